// SPDX-License-Identifier: Apache-2.0
// Two threads that wait for each other.
import java.util.concurrent.CountDownLatch;

public class Deadlock {
	static final Object a = new Object(), b = new Object();
	static final CountDownLatch both = new CountDownLatch(2);

	static void takeB() {
		synchronized (a) {
			both.countDown();
			await();
			synchronized (b) {
				System.out.println("never");
			}
		}
	}

	static void takeA() {
		synchronized (b) {
			both.countDown();
			await();
			synchronized (a) {
				System.out.println("never");
			}
		}
	}

	static void await() {
		try {
			both.await();
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) {
		new Thread(Deadlock::takeB).start();
		new Thread(Deadlock::takeA).start();
		await();
		System.out.println("waits");
	}
}
