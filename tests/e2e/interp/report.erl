%% SPDX-License-Identifier: Apache-2.0
%% Makes reports of a log for some seconds of CPU time: report.erl SECONDS.
-module(report).
-export([main/1]).

main([_, Seconds]) ->
    Log = [line(I) || I <- lists:seq(0, 1999)],
    repeat(Log, list_to_float(Seconds) * 1000),
    ok.

line(I) ->
    Text = io_lib:format("10.0.0.~w GET /page/~w ~w", [I rem 50, I rem 17, I * 37 rem 900]),
    unicode:characters_to_binary(Text).

repeat(Log, Ms) ->
    case erlang:statistics(runtime) of
        {Used, _} when Used >= Ms -> ok;
        _ -> make(Log), repeat(Log, Ms)
    end.

%% A function that a last call leaves is not on the stack: these end with something else.
make(Log) ->
    Text = render(slowest_first(count(Log))),
    byte_size(Text).

count(Log) ->
    Pages = lists:foldl(fun(Line, Pages) -> add(parse(Line), Pages) end, #{}, Log),
    {map_size(Pages), Pages}.

add([_, _, Page, Ms], Pages) ->
    {Calls, Total} = maps:get(Page, Pages, {0, 0}),
    Pages#{Page => {Calls + 1, Total + binary_to_integer(Ms)}}.

parse(Line) ->
    [Address, Method, Page, Ms] = binary:split(Line, <<" ">>, [global]),
    [Address, Method, Page, Ms].

slowest_first({_, Pages}) ->
    Rows = maps:to_list(Pages),
    Sorted = [lists:sort(fun(A, B) -> mean(A) >= mean(B) end, Rows) || _ <- lists:seq(1, 100)],
    hd(Sorted).

mean({_, {Calls, Total}}) ->
    round(math:sqrt(Total / Calls) * 1000).

render(Rows) ->
    Text = lists:foldl(fun(_, Text) -> [[row(Row) || Row <- Rows], Text] end, [], lists:seq(1, 30)),
    iolist_to_binary([Text, "\n"]).

row({Page, {Calls, Total}}) ->
    io_lib:format("<tr><td>~s</td><td>~w</td><td>~w</td></tr>", [Page, Calls, Total]).
