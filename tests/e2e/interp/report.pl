# SPDX-License-Identifier: Apache-2.0
# Makes reports of a log for some seconds of CPU time: report.pl SECONDS.
use strict;
use warnings;

my @log = map { sprintf '10.0.0.%d GET /page/%d %d', $_ % 50, $_ % 17, $_ * 37 % 900 } 1 .. 2000;

sub parse {
    my $line = shift;
    return $line =~ /(\S+) (\w+) (\S+) (\d+)/;
}

sub count {
    my $lines = shift;
    my %pages;
    for my $line (@$lines) {
        my (undef, undef, $page, $ms) = parse($line);
        $pages{$page}{calls}++;
        $pages{$page}{total} += $ms;
    }
    return \%pages;
}

sub mean {
    my $row = shift;
    return $row->{total} / $row->{calls};
}

sub slowest_first {
    my $pages = shift;
    my @rows;
    for (1 .. 100) {
        @rows = sort { mean($pages->{$b}) <=> mean($pages->{$a}) } keys %$pages;
    }
    return @rows;
}

sub render {
    my ($pages, @rows) = @_;
    my $text = '';
    for (1 .. 30) {
        $text .= "<tr><td>$_</td><td>$pages->{$_}{calls}</td><td>$pages->{$_}{total}</td></tr>" for @rows;
    }
    return $text;
}

sub report {
    my $pages = count(\@log);
    return render($pages, slowest_first($pages));
}

report() while (times)[0] < $ARGV[0];
