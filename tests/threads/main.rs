//! A server that compares objects and sends to its clients on several threads. Only with the feature `rayon`.
//!
//! *Invariant:* the packets of all clients are the same for any number of threads.

#[path = "../support/bazaar.rs"]
mod bazaar;
#[path = "../support/mod.rs"]
mod support;

mod harbour;
mod same_packets;

use rayon::{ThreadPool, ThreadPoolBuilder};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}
