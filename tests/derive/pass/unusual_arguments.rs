//! Arguments and parameters that once were refused, or that made the macros panic.
#![deny(warnings)]

use repl::{NetSerialize, Replicated, rpcs};

const fn sum<const A: usize, const B: usize>() -> usize {
    A + B
}

#[derive(Replicated, Default)]
struct Limits {
    #[replicated(range = 18446744073709551614..=18446744073709551615)]
    last: u64,
    #[replicated(max_len = sum::<3, 4>(), condition = OwnerOnly)]
    few: Vec<u8>,
    #[replicated(max_len = 1 << 3, push)]
    more: Vec<u8>,
}

const WIDTH: usize = 5;
const PRECISION: i8 = 10;
const LEAST: i128 = -7;
const GREATEST: u64 = 93;

/// The numbers of attributes are constants of any integer type.
#[derive(Replicated, Default)]
struct Constants {
    #[replicated(bits = WIDTH)]
    level: u16,
    #[replicated(range = LEAST..=GREATEST)]
    score: i8,
    #[replicated(quantize(smallest_three = PRECISION))]
    turn: [f32; 4],
    #[replicated(quantize(unit_vector = PRECISION as u32 + 2))]
    aim: [f32; 3],
}

#[derive(Replicated, Default)]
pub struct Squad<T: Default + Send + Sync + 'static> {
    #[replicated]
    size: u8,
    _leader: T,
}

#[deprecated]
#[derive(NetSerialize, Clone, Default)]
pub struct Old(u8);

impl Squad<u8> {
    const MOST: usize = 4;
}

#[allow(deprecated, non_snake_case)]
#[rpcs]
impl Squad<u8> {
    #[rpc(server, reliable)]
    fn fire(&mut self, shots: [u8; Self::MOST], X: u8, old: Old) {
        self.size = shots[0] + X + old.0;
    }
}

fn main() {
    let table = Limits::LAYOUT.to_string();
    assert!(table.contains('7') && table.contains('8'), "{table}");
    let table = Constants::LAYOUT.to_string();
    assert!(table.contains("-7..=93"), "{table}");
}
