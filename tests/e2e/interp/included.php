<?php
# SPDX-License-Identifier: Apache-2.0
# Included by a function of stacks.php, which has $n.
call_next($n);
