// SPDX-License-Identifier: Apache-2.0
// Calls methods in random order and depth, also through the library. At each end it writes the stack
// that Java itself has to a file, as JSON, and waits. Arguments: this file, the file, the number of
// stacks, the seed, and a file: it begins when that is there. With the property stacks.library also
// through functions in C (stacks_jni.c).

import java.io.PrintWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Stacks {
    static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES);
    static PrintWriter out;
    static Random random;
    static int left;
    static boolean quick; // calls without waits, so that methods are compiled
    static volatile int sink;

    static void record() {
        String frames = WALKER.walk(s -> s.skip(1).map(f -> "[\"" + f.getClassName().replaceAll("[+/].*", "")
                + "." + f.getMethodName() + "\", " + Math.max(f.getLineNumber(), 0) + "]")
                .collect(Collectors.joining(", ")));
        out.println("[" + frames + "]");
        left--;
    }

    static void nap() {
        try {
            if (!quick && left > 0) { record(); Thread.sleep(0, 200000); }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    interface Step {
        int take(int n);
    }

    static class First implements Step {
        public int take(int n) {
            return next(n) + 1;
        }
    }

    static class Second extends First {
        private int n;

        Second() {
        }

        Second(int n) {
            this.n = next(n);
        }

        @Override
        public int take(int n) {
            return super.take(n) + 1;
        }
    }

    enum Third implements Step {
        ONE {
            public int take(int n) {
                return next(n);
            }
        },
        TWO {
            public int take(int n) {
                int res = 0;
                for (int i = 0; i < 3; i++) {
                    res += i == 1 ? next(n) : i;
                }
                return res;
            }
        }
    }

    static final Step[] STEPS = {new First(), new Second(), Third.ONE, Third.TWO};

    static int plain(int n) {
        return next(n);
    }

    static int small(int n) { return smaller(n); }
    static int smaller(int n) { return smallest(n); }
    static int smallest(int n) {
        sink++;
        return next(n);
    }

    static synchronized int locked(int n) {
        return next(n);
    }

    static int recursive(int n, int depth) {
        return depth > 0 ? recursive(n, depth - 1) + 1 : next(n);
    }

    static int closure(int n) {
        IntUnaryOperator f = v -> next(v) + n;
        return f.applyAsInt(n);
    }

    static int reference(int n) {
        IntUnaryOperator f = Stacks::plain;
        return f.applyAsInt(n);
    }

    static int streamed(int n) {
        return IntStream.range(0, 1).map(i -> next(n)).filter(v -> v > 0).sum();
    }

    static int collected(int n) {
        return List.of(n).stream().map(v -> next(v)).collect(Collectors.toList()).size();
    }

    static int sorted(int n) {
        boolean[] called = new boolean[1];
        Integer[] values = {2, 1};
        Arrays.sort(values, (a, b) -> {
            if (!called[0]) {
                called[0] = true;
                next(n);
            }
            return a - b;
        });
        return values[0];
    }

    static int mapped(int n) {
        return new TreeMap<Integer, Integer>().computeIfAbsent(n, k -> next(k));
    }

    static int anonymous(int n) {
        return new Step() {
            public int take(int n) {
                return next(n);
            }
        }.take(n);
    }

    static int constructed(int n) {
        return new Second(n).n;
    }

    static int caught(int n) {
        try {
            if (n % 2 == 0) {
                throw new IllegalStateException();
            }
            return next(n);
        } catch (IllegalStateException e) {
            return next(n);
        } finally {
            sink++;
        }
    }

    static int looped(int n) {
        int res = 0;
        for (int i = 0; i < 2000; i++) {
            res += i % 7;
            if (i == 1990) {
                res += next(n);
            }
        }
        return res;
    }

    static final MethodHandle HANDLE = handle();

    static MethodHandle handle() {
        try {
            return MethodHandles.lookup().findStatic(Stacks.class, "plain", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static int by_handle(int n) {
        try {
            return (int) HANDLE.invokeExact(n);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static int reflected(int n) {
        try {
            return (int) Stacks.class.getDeclaredMethod("plain", int.class).invoke(null, n);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static final String LIBRARY = System.getProperty("stacks.library");

    static {
        if (LIBRARY != null) {
            System.load(LIBRARY);
        }
    }

    static native int inC(int n);
    static native int deepInC(int n);
    static native int constructedInC(int n);
    static native int caughtInC(int n);
    native int virtualInC(int n);

    int callee(int n) {
        return next(n);
    }

    static int thrower(int n) {
        int res = next(n);
        throw new IllegalStateException("after " + res);
    }

    static int chooseInC(int n) {
        switch (random.nextInt(5)) {
        case 0: return inC(n);
        case 1: return deepInC(n);
        case 2: return constructedInC(n);
        case 3: return caughtInC(n);
        default: return new Stacks().virtualInC(n);
        }
    }

    static int choose(int n) {
        switch (random.nextInt(LIBRARY == null ? 17 : 20)) {
        case 17: case 18: case 19: return chooseInC(n);
        case 0: return plain(n);
        case 1: return small(n);
        case 2: return locked(n);
        case 3: return recursive(n, random.nextInt(5));
        case 4: return closure(n);
        case 5: return reference(n);
        case 6: return streamed(n);
        case 7: return collected(n);
        case 8: return sorted(n);
        case 9: return mapped(n);
        case 10: return anonymous(n);
        case 11: return constructed(n);
        case 12: return caught(n);
        case 13: return looped(n);
        case 14: return by_handle(n);
        case 15: return reflected(n);
        default: return STEPS[random.nextInt(STEPS.length)].take(n);
        }
    }

    static int next(int n) {
        if (n <= 0) {
            nap();
            return 1;
        }
        return choose(n - 1);
    }

    static void warm_up() throws InterruptedException {
        quick = true;
        for (int i = 0; i < 200; i++) {
            next(random.nextInt(16));
        }
        quick = false;
        Thread.sleep(5);
    }

    public static void main(String[] args) throws Exception {
        out = new PrintWriter(Files.newBufferedWriter(Path.of(args[1])), true);
        left = Integer.parseInt(args[2]);
        random = new Random(Integer.parseInt(args[3]));
        while (!Files.exists(Path.of(args[4]))) {
            warm_up();
        }
        while (left > 0) {
            next(random.nextInt(17));
        }
    }
}
