%% SPDX-License-Identifier: Apache-2.0
%% Calls Erlang functions in random order and depth, also through library functions. At each end it
%% writes the stack that Erlang itself has to a file, as JSON, and waits in a function in C, on a
%% thread of the scheduler or on one of its own. Arguments: this file, the file, the number of
%% stacks, the seed, and a file: it begins when that is there.
-module(stacks).
-export([main/1, plain/1, go/1]).
-nifs([sleep/0, sleep_elsewhere/0]).

-include("included.hrl").

main([_, Path, Left, Seed, Start]) ->
    {ok, [[Nif]]} = init:get_argument(nif),
    ok = erlang:load_nif(Nif, 0),
    erlang:system_flag(backtrace_depth, 64), % it has no more
    rand:seed(exsss, list_to_integer(Seed)),
    {ok, Out} = file:open(Path, [write]),
    persistent_term:put(out, Out),
    persistent_term:put(left, counters:new(1, [])),
    counters:put(left(), 1, list_to_integer(Left)),
    wait_for(Start),
    many(),
    file:close(Out).

left() -> persistent_term:get(left).

sleep() -> erlang:nif_error(not_loaded).
sleep_elsewhere() -> erlang:nif_error(not_loaded).

wait_for(Start) ->
    case file:read_file_info(Start, [raw]) of
        {ok, _} -> ok;
        _ -> warm_up(), wait_for(Start)
    end.

warm_up() ->
    sleep(), ok.

many() ->
    case counters:get(left(), 1) of
        0 -> ok;
        _ -> go(rand:uniform(9) - 1), many()
    end.

record() ->
    {_, Stack} = erlang:process_info(self(), current_stacktrace),
    [_ | Frames] = lists:dropwhile(fun({_, F, _, _}) -> F =/= record end, Stack),
    Text = [io_lib:format("[\"~s:~s/~w\",~w]", [M, F, A, proplists:get_value(line, Place, 0)])
            || {M, F, A, Place} <- Frames],
    ok = file:write(persistent_term:get(out), ["[", lists:join(",", Text), "]\n"]).

nap(elsewhere) -> record(), sleep_elsewhere(), ok;
nap(_) ->
    record(), sleep(), ok.

maybe_nap(Where) ->
    case counters:get(left(), 1) of
        0 -> ok;
        _ -> counters:sub(left(), 1, 1), nap(Where), ok
    end.

go(N) when N =< 0 ->
    maybe_nap(case rand:uniform(4) of 1 -> elsewhere; _ -> here end),
    1;
go(N) ->
    _ = call(rand:uniform(22), N - 1),
    1.

call(1, N) -> plain(N), 1;
call(2, N) -> in_map(N), 1;
call(3, N) -> in_fold(N), 1;
call(4, N) -> sorted(N), 1;
call(5, N) -> tried(N), 1;
call(6, N) -> after_error(N), 1;
call(7, N) -> at_the_end(N), 1;
call(8, N) -> applied(N), 1;
call(9, N) -> in_list(N), 1;
call(10, N) -> in_bits(N), 1;
call(11, N) -> over_map(N), 1;
call(12, N) -> in_table(N), 1;
call(13, N) -> last_call(N);
call(14, N) -> in_process(N), 1;
call(15, N) -> received(N), 1;
call(16, N) -> many_variables(N, 1, 2.0, <<"3">>), 1;
call(17, N) -> from_included_file(N), 1;
call(18, N) -> named_fun(N), 1;
call(19, N) -> old_catch(N), 1;
call(20, N) -> in_text(N), 1;
call(21, N) -> big_numbers(N), 1;
call(22, N) -> collected(N), 1.

plain(N) ->
    go(N),
    ok.

in_map(N) ->
    lists:map(fun(K) -> go(K) + 1 end, [N]),
    ok.

in_fold(N) ->
    X = lists:foldl(fun(K, Sum) -> Sum + go(K) end, 0, [N]),
    {X, ok}.

sorted(N) ->
    put(called, false),
    lists:sort(fun(A, B) ->
                       case put(called, true) of
                           false -> go(N);
                           true -> 1
                       end + A =< B
               end, [2, 1]),
    ok.

tried(N) ->
    try go(N) of
        X -> X + 1
    catch
        error:_ -> 0
    end.

after_error(N) ->
    try
        error(expected)
    catch
        error:expected -> go(N), ok
    end.

at_the_end(N) ->
    try
        ok
    after
        go(N)
    end.

applied(N) ->
    apply(?MODULE, plain, [N]),
    ok.

in_list(N) ->
    [go(K) || K <- [N], K >= 0] ++ [1].

in_bits(N) ->
    << <<(go(K))>> || <<K>> <= <<N>> >>.

over_map(N) ->
    maps:fold(fun(_, K, Sum) -> Sum + go(K) end, 0, #{a => N}) + 1.

in_table(N) ->
    Table = ets:new(table, []),
    ets:insert(Table, {N}),
    ets:foldl(fun({K}, Sum) -> Sum + go(K) end, 0, Table),
    ets:delete(Table).

last_call(N) ->
    go(N).

%% A process has a stack of its own.
in_process(N) ->
    Random = rand:export_seed(),
    {_, Monitor} = spawn_monitor(fun() ->
                                         rand:seed(Random),
                                         maybe_nap(go_there(N))
                                 end),
    receive {'DOWN', Monitor, _, _, Reason} -> normal = Reason end,
    rand:uniform(),
    go(0).

go_there(N) ->
    case N rem 2 of
        0 -> here;
        1 -> elsewhere
    end.

received(N) ->
    self() ! {call, N},
    receive {call, K} -> go(K) end,
    ok.

many_variables(N, A, B, C) ->
    D = [A, B],
    E = {C, D},
    F = go(N) + A,
    G = length(D) + F,
    plain(0),
    {A, B, C, D, E, F, G}.

named_fun(N) ->
    Down = fun Again(0) -> go(N);
               Again(K) -> Again(K - 1) + 1
           end,
    Down(3) + 1.

old_catch(N) ->
    X = (catch go(N)),
    {X}.

in_text(N) ->
    {ok, Tokens, _} = erl_scan:string("stacks:go(N)."),
    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
    {value, 1, _} = erl_eval:exprs(Expressions, [{'N', N}]),
    ok.

big_numbers(N) ->
    X = lists:foldl(fun(K, Product) -> Product * K end, 1 bsl 64, lists:seq(1, 30)),
    go(N) + X rem 7.

collected(N) ->
    L = lists:seq(1, 200),
    erlang:garbage_collect(),
    go(N) + length(L).
