use std::time::Instant;

use repl::FastArrayItem;

#[derive(FastArrayItem)]
struct Item {
    kind: u16,
    made: Instant,
}

impl Default for Item {
    fn default() -> Self {
        Self { kind: 0, made: Instant::now() }
    }
}

fn main() {}
