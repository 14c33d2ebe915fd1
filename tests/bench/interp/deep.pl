# SPDX-License-Identifier: Apache-2.0
# A loop below many subroutines of Perl: deep.pl FUNCTIONS SECONDS.
use strict;
use warnings;
use Time::HiRes 'time';

sub spin {
    my $until = shift;
    my $n = 0;
    while (time() < $until) {
        $n += $_ % 3 for 1 .. 10000;
    }
    return;
}

sub down {
    my ($n, $until) = @_;
    if ($n) { down($n - 1, $until) }
    else    { spin($until) }
    return;
}

down($ARGV[0], time() + $ARGV[1]);
