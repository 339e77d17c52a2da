//! A fuzzer of values: reads values of many types, mostly of the standard library, and writes them again.
//!
//! *Invariant:* a value that can be read can be written. The written bits can be read again as a value that
//! takes the same number of bits.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::num::{NonZeroI64, NonZeroU16, NonZeroU128};
use std::sync::Arc;
use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, BitWriter, NoObjects, ReferenceMap};

use super::classes::{Actor, Mood, Pebble};

/// Reads a value of the type `T`. Returns whether the bits are a value of this type.
fn read<T: NetSerialize>(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| T::read(&mut BitReader::new(bytes), &mut ReferenceMap::new(&NoObjects));
    let Ok(value) = read(bytes) else { return false };
    let written = written(&value);
    let Ok(again) = read(&written) else {
        panic!("a {} that was written is refused", std::any::type_name::<T>())
    };
    let rewritten = self::written(&again);
    assert_eq!(written.len(), rewritten.len());
    true
}

pub fn written<T: NetSerialize>(value: &T) -> Vec<u8> {
    let mut writer = BitWriter::new();
    value.write(&mut writer).expect("what was read has a form");
    writer.into_bytes()
}

macro_rules! types {
    ($($ty:ty)*) => {
        const READERS: &[fn(&[u8]) -> bool] = &[$(read::<$ty>),*];
    };
}

types! {
    bool u8 u64 usize i32 i128 f32 f64 char String Box<str> Arc<str>
    Duration IpAddr SocketAddr SocketAddrV6 NonZeroU16 NonZeroI64 NonZeroU128
    [u16; 3] Vec<u8> Vec<String> Vec<Vec<bool>> VecDeque<char> Option<u16> Option<Option<bool>> Box<u32>
    (u8, bool, String) BTreeMap<u8, String> HashMap<String, u16> BTreeSet<i16> Mood ObjectRef<Actor> Actor Pebble
}

/// How many types there are: the first byte of an input chooses one.
pub const TYPES: usize = READERS.len();

/// Runs an input: its first byte chooses a type, and the rest are bits. Returns whether the bits are a value
/// of this type.
pub fn run(data: &[u8]) -> bool {
    data.split_first().is_some_and(|(&number, bits)| READERS[usize::from(number) % TYPES](bits))
}
