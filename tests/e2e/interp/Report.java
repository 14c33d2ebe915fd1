// SPDX-License-Identifier: Apache-2.0
// Makes reports of a log for some seconds of CPU time: Report.java SECONDS.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class Report {
    static final Pattern LINE = Pattern.compile("(\\S+) (\\w+) (\\S+) (\\d+)");

    static class Page {
        final String name;
        int calls;
        long total;

        Page(String name) {
            this.name = name;
        }
    }

    final List<String> log = new ArrayList<>();

    Report() {
        for (int i = 0; i < 2000; i++) {
            log.add(String.format("10.0.0.%d GET /page/%d %d", i % 50, i % 997, i * 37 % 900));
        }
    }

    Matcher parse(String line) {
        Matcher found = LINE.matcher(line);
        found.matches();
        return found;
    }

    Collection<Page> count() {
        Map<String, Page> pages = new TreeMap<>();
        for (String line : log) {
            Matcher found = parse(line);
            Page page = pages.computeIfAbsent(found.group(3), Page::new);
            page.calls++;
            page.total += Integer.parseInt(found.group(4));
        }
        return pages.values();
    }

    double mean(Page page) {
        return (double) page.total / page.calls;
    }

    List<Page> slowestFirst(Collection<Page> pages) {
        List<Page> sorted = new ArrayList<>(pages);
        for (int i = 0; i < 40; i++) {
            Collections.rotate(sorted, i * 37);
            sorted.sort((a, b) -> Double.compare(mean(b), mean(a)));
        }
        return sorted;
    }

    String render(List<Page> pages) {
        StringBuilder text = new StringBuilder();
        for (Page page : pages) {
            text.append(String.format("<tr><td>%s</td><td>%d</td><td>%d</td></tr>%n", page.name, page.calls, page.total));
        }
        return text.toString();
    }

    String make() {
        return render(slowestFirst(count()));
    }

    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double until = threads.getCurrentThreadCpuTime() + Double.parseDouble(args[0]) * 1e9;
        Report report = new Report();
        do {
            report.make();
        } while (threads.getCurrentThreadCpuTime() < until);
    }
}
