# SPDX-License-Identifier: Apache-2.0
# Calls Perl subroutines in random order and depth, also through C. At each end it writes the stack
# that Perl itself has to a file, as JSON, and waits. Arguments: the file, the number of stacks, the
# seed, and a file: it begins when that is there.
use strict;
use warnings;
use List::Util ();

package Tied;

sub TIESCALAR { my ($class, $n) = @_; return bless {n => $n}, $class }

sub FETCH {
    my $self = shift;
    main::call_next($self->{n});
    return 1;
}

package Added;
use overload '+' => sub { my $self = shift; main::call_next($$self); return 1 };

package main;

my ($path, $left, $seed, $start) = @ARGV;
srand $seed;
open my $out, '>', $path or die "$path: $!";

sub record {
    my $line = shift;
    my @frames = (['main::nap', $line]);
    my $i = 1; # of nap
    while (my @call = caller $i++) {
        $line = $call[2];
        my $sub = (caller $i)[3];
        # A block or a text of eval is no subroutine: the line in it stands for the outer one.
        $sub = (caller ++$i)[3] while defined $sub && $sub eq '(eval)';
        push @frames, [$sub // 'main program', $line];
        last if !defined $sub;
    }
    print {$out} '[', join(',', map { qq(["$_->[0]",$_->[1]]) } @frames), "]\n";
}

sub nap {
    record(__LINE__); select undef, undef, undef, 0.0005;
    $left--;
}

sub plain { my $r = call_next(shift); return $r }

sub Some::method {
    my ($class, $n) = @_;
    call_next($n);
    return 1;
}

sub through_method { Some->method(shift); return 1 }

sub sorted {
    my $n = shift;
    my $called;
    my @r = sort {
        call_next($n) if !$called++;
        $a <=> $b
    } 2, 1;
    return 1;
}

my ($compare_n, $compared);

sub compare {
    if (!$compared++) {
        call_next($compare_n);
    }
    return $a <=> $b;
}

sub sorted_by_sub {
    ($compare_n, $compared) = (shift, 0);
    my @r = sort compare 2, 1;
    return 1;
}

sub mapped {
    my @r = map { call_next($_) } shift;
    return 1;
}

sub in_eval {
    my $n = shift;
    eval {
        call_next($n);
        1;
    } or die $@;
    return 1;
}

sub in_text {
    my $n = shift;
    eval 'call_next($n); 1' or die $@;
    return 1;
}

sub anonymous {
    my $n = shift;
    my $f = sub {
        call_next($n);
        return 1;
    };
    $f->();
    return 1;
}

sub tied_value {
    tie my $v, 'Tied', shift;
    my $r = $v;
    return 1;
}

sub added {
    my $n = shift;
    my $v = bless \$n, 'Added';
    my $r = $v + 1;
    return 1;
}

sub first {
    my $n = shift;
    my $r = List::Util::first { call_next($n); 1 } 1;
    return 1;
}

sub replaced {
    my $n = shift;
    (my $v = 'x') =~ s/x/call_next($n)/e;
    return 1;
}

my @calls = (\&plain, \&through_method, \&sorted, \&sorted_by_sub, \&mapped, \&in_eval, \&in_text, \&anonymous,
             \&tied_value, \&added, \&first, \&replaced);

sub call_next {
    my $n = shift;
    if ($n <= 0) {
        nap();
        return 1;
    }
    $calls[rand @calls]->($n - 1);
    return 1;
}

sub warm_up { select undef, undef, undef, 0.01 }

warm_up() while !-e $start;
while ($left > 0) {
    call_next(int rand 16);
}
close $out;
