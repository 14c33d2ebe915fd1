<?php
# SPDX-License-Identifier: Apache-2.0
# A loop below many PHP functions: deep.php FUNCTIONS SECONDS.

function spin(float $until): void
{
    $n = 0;
    while (microtime(true) < $until) {
        for ($i = 0; $i < 10000; $i++) {
            $n += $i % 3;
        }
    }
}

function down(int $n, float $until): void
{
    if ($n) {
        down($n - 1, $until);
    } else {
        spin($until);
    }
}

down((int)$argv[1], microtime(true) + (float)$argv[2]);
