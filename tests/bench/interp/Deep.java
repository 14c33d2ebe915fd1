// SPDX-License-Identifier: Apache-2.0
// A loop below many Java methods: Deep FUNCTIONS SECONDS.

class Deep {
    static long sum;

    static void spin(double until) {
        while (System.nanoTime() < until) {
            for (int i = 0; i < 10000; i++) {
                sum += i % 3;
            }
        }
    }

    static void down(int n, double until) {
        if (n > 0) {
            down(n - 1, until);
        } else {
            spin(until);
        }
    }

    public static void main(String[] args) {
        down(Integer.parseInt(args[0]), System.nanoTime() + Double.parseDouble(args[1]) * 1e9);
    }
}
