// SPDX-License-Identifier: Apache-2.0
// Closures, sorting, tables, text, and panics that are caught.
use std::collections::HashMap;
use std::panic;

#[inline(never)]
fn down(n: u32, f: &dyn Fn(u32) -> u32) -> u32 {
    if n == 0 {
        return f(n);
    }
    down(n - 1, &|k| f(k + n)) ^ f(n)
}

#[inline(never)]
fn words(seed: u32) -> usize {
    let mut v: Vec<String> = (0..200u32)
        .map(|i| format!("{:x}", i.wrapping_mul(2654435761) ^ seed))
        .collect();
    v.sort_by(|a, b| b.cmp(a));
    let mut counts: HashMap<char, usize> = HashMap::new();
    for w in &v {
        for c in w.chars() {
            *counts.entry(c).or_insert(0) += 1;
        }
    }
    counts.values().sum()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let mut seed = 1u32;
    loop {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        let got = panic::catch_unwind(|| {
            let n = down(12, &|k| k ^ seed);
            if n % 3 == 0 {
                panic!("on purpose");
            }
            words(n)
        });
        if got.is_ok() && seed == 0 {
            println!("never");
        }
    }
}
