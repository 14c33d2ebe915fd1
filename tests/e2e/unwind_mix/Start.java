// SPDX-License-Identifier: Apache-2.0
// Compiled by the launcher itself, class by class interpreted: a start that takes a while.
import java.util.TreeMap;

class Start {
    interface Shape {
        double area(int n);
    }

    static String name(int n) {
        return n == 0 ? "" : name(n - 1) + (char) ('a' + n % 26);
    }

    public static void main(String[] args) {
        TreeMap<String, Double> all = new TreeMap<>();
        for (int i = 0;; i = (i + 1) % 1000) {
            final int k = i;
            Shape s = n -> n * k / 3.0;
            all.merge(name(i % 40), s.area(i), Double::sum);
        }
    }
}
