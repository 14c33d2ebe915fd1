%% SPDX-License-Identifier: Apache-2.0
%% A function of stacks.erl.
from_included_file(N) ->
    go(N),
    included.
