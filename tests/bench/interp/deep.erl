%% SPDX-License-Identifier: Apache-2.0
%% A loop below many Erlang functions: deep.erl FUNCTIONS SECONDS.
-module(deep).
-export([main/1]).

main([_, Functions, Seconds]) ->
    Ends = erlang:monotonic_time(millisecond) + round(float(list_to_integer(Seconds)) * 1000),
    down(list_to_integer(Functions), Ends).

down(0, Ends) -> spin(Ends);
down(N, Ends) -> down(N - 1, Ends) + 1.

spin(Ends) ->
    N = count(100000, 0),
    case erlang:monotonic_time(millisecond) < Ends of
        true -> spin(Ends);
        false -> N
    end.

count(0, N) -> N;
count(I, N) -> count(I - 1, N + I rem 3).
