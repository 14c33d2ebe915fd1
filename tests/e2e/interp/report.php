<?php
# SPDX-License-Identifier: Apache-2.0
# Makes reports of a log for some seconds of CPU time: report.php SECONDS.

class Report
{
    private array $log = [];

    function __construct()
    {
        for ($i = 0; $i < 2000; $i++) {
            $this->log[] = sprintf('10.0.0.%d GET /page/%d %d', $i % 50, $i % 17, $i * 37 % 900);
        }
    }

    private function parse(string $line): array
    {
        preg_match('/(\S+) (\w+) (\S+) (\d+)/', $line, $found);
        return $found;
    }

    private function count(): array
    {
        $pages = [];
        foreach ($this->log as $line) {
            [, , , $page, $ms] = $this->parse($line);
            $pages[$page] ??= ['page' => $page, 'calls' => 0, 'total' => 0];
            $pages[$page]['calls']++;
            $pages[$page]['total'] += (int)$ms;
        }
        return $pages;
    }

    private function mean(array $row): float
    {
        return $row['total'] / $row['calls'];
    }

    private function slowest_first(array $pages): array
    {
        for ($i = 0; $i < 100; $i++) {
            usort($pages, fn($a, $b) => $this->mean($b) <=> $this->mean($a));
        }
        return $pages;
    }

    private function render(array $rows): string
    {
        $text = '';
        for ($i = 0; $i < 30; $i++) {
            foreach ($rows as $row) {
                $text .= "<tr><td>{$row['page']}</td><td>{$row['calls']}</td><td>{$row['total']}</td></tr>";
            }
        }
        return $text;
    }

    function make(): string
    {
        return $this->render($this->slowest_first($this->count()));
    }
}

$report = new Report;
do {
    $report->make();
    $used = getrusage();
} while ($used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6 < (float)$argv[1]);
