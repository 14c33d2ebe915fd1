<?php
# SPDX-License-Identifier: Apache-2.0
# Calls PHP functions in random order and depth, also through C. At each end it writes the stack that
# PHP itself has to a file, as JSON, and waits. Arguments: the file, the number of stacks, the seed,
# and a file: it begins when that is there.

[, $path, $left, $seed, $start] = $argv;
mt_srand((int)$seed);
$out = fopen($path, 'w');

function is_in_c(array $call): bool
{
    if (!isset($call['class'])) {
        return function_exists($call['function']) && (new ReflectionFunction($call['function']))->isInternal();
    }
    return method_exists($call['class'], $call['function'])
        && (new ReflectionMethod($call['class'], $call['function']))->isInternal();
}

function record(int $line): void
{
    global $out, $left;
    $frames = [];
    foreach (array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1) as $call) {
        $of_file = in_array($call['function'], ['include', 'eval']);
        if ($of_file) {
            $frames[] = ['{main}', $line];
        } elseif (!is_in_c($call)) {
            # A class without a name has its place behind a NUL.
            $class = isset($call['class']) ? strtok($call['class'], "\0") . '::' : '';
            $frames[] = [$class . $call['function'], $line];
        }
        $line = $call['line'] ?? $line;
    }
    $frames[] = ['{main}', $line];
    fwrite($out, json_encode($frames) . "\n");
    $left--;
}

function nap(): void
{
    record(__LINE__); usleep(200);
}

trait Shared
{
    function by_trait(int $n): void
    {
        call_next($n);
    }
}

class First
{
    use Shared;

    static function by_class(int $n): void
    {
        (new self)->by_trait($n);
    }

    function __get(string $n): int
    {
        call_next((int)$n);
        return 1;
    }

    function __call(string $name, array $args): void
    {
        call_next($args[0]);
    }

    function __toString(): string
    {
        call_next($this->n);
        return 'text';
    }

    function __invoke(int $n): void
    {
        call_next($n);
    }

    function __destruct()
    {
        if ($this->at_end >= 0) {
            call_next($this->at_end);
        }
    }

    public int $n = 0;
    public int $at_end = -1;
}

class Second extends ArrayObject
{
    use Shared;

    function offsetGet(mixed $n): mixed
    {
        call_next($n);
        return 1;
    }
}

function plain(int $n): void
{
    call_next($n);
}

function by_traits(int $n): void
{
    (mt_rand(0, 1) ? new First : new Second)->by_trait($n);
}

function mapped(int $n): void
{
    array_map('call_next', [$n]);
}

function sorted(int $n): void
{
    $called = false;
    $values = [2, 1];
    usort($values, function ($a, $b) use ($n, &$called) {
        if (!$called) {
            $called = true;
            call_next($n);
        }
        return $a - $b;
    });
}

function replaced(int $n): void
{
    preg_replace_callback('/x/', fn($m) => call_next($n), 'x');
}

function generate(int $n): Generator
{
    yield 1;
    call_next($n);
    yield 2;
}

function generated(int $n): void
{
    foreach (generate($n) as $v) {
    }
}

function magic_get(int $n): void
{
    $v = (new First)->{"$n"};
}

function magic_call(int $n): void
{
    (new First)->unknown($n);
}

function magic_text(int $n): void
{
    $o = new First;
    $o->n = $n;
    $v = "$o";
}

function invoked(int $n): void
{
    (new First)($n);
}

function destroyed(int $n): void
{
    $o = new First;
    $o->at_end = $n;
    unset($o);
}

function indexed(int $n): void
{
    $v = (new Second)[$n];
}

function in_text(int $n): void
{
    eval('call_next($n);');
}

function in_file(int $n): void
{
    include __DIR__ . '/included.php';
}

function reflected(int $n): void
{
    (new ReflectionFunction('plain'))->invoke($n);
}

function anonymous(int $n): void
{
    (new class {
        function method(int $n): void
        {
            call_next($n);
        }
    })->method($n);
}

const CALLS = ['plain', 'First::by_class', 'by_traits', 'mapped', 'sorted', 'replaced', 'generated', 'magic_get',
    'magic_call', 'magic_text', 'invoked', 'destroyed', 'indexed', 'in_text', 'in_file', 'reflected', 'anonymous'];

function call_next(int $n): int
{
    if ($n <= 0) {
        nap();
    } else {
        $call = CALLS[mt_rand(0, count(CALLS) - 1)];
        $call($n - 1);
    }
    return 1;
}

function warm_up(): void
{
    usleep(10000);
    clearstatcache();
}

while (!file_exists($start)) {
    warm_up();
}
while ($left > 0) {
    call_next(mt_rand(0, 16));
}
