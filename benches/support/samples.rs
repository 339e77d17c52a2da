//! One object type for each kind of property, with values and their hand-written wire form.
//!
//! *Invariant:* where the library and the hand-written form write the same information, both take the same
//! number of bits. Only the hand-written form of a rotation is uncompressed.

use repl::{NetSerialize, Replicated};

use crate::bits::{BitReader, BitWriter};

/// An object with one property.
pub(crate) trait Sample: Replicated {
    /// The kind of the property.
    const NAME: &'static str;
    /// Returns a value of the property. Different indices return different values.
    fn nth(index: u32) -> Self;
    /// Writes the property by hand.
    fn write_by_hand(&self, bits: &mut BitWriter);
    /// Reads the property by hand.
    fn read_by_hand(bits: &mut BitReader<'_>) -> Self;
}

/// Calls a function once for each kind of sample.
macro_rules! for_each_kind {
    ($function:ident($argument:expr)) => {
        $function::<$crate::samples::Flag>($argument);
        $function::<$crate::samples::Short>($argument);
        $function::<$crate::samples::Long>($argument);
        $function::<$crate::samples::Ranged>($argument);
        $function::<$crate::samples::Real>($argument);
        $function::<$crate::samples::Quantized>($argument);
        $function::<$crate::samples::Vector>($argument);
        $function::<$crate::samples::Rotation>($argument);
        $function::<$crate::samples::Text>($argument);
        $function::<$crate::samples::Choice>($argument);
        $function::<$crate::samples::Maybe>($argument);
        $function::<$crate::samples::List>($argument);
    };
}
pub(crate) use for_each_kind;

/// Defines a sample: its name, its field with attributes, values, and how to write and read them by hand.
macro_rules! sample {
    (
        $(#[$attribute:meta])* $type:ident = $name:literal, $field:ty, $values:expr,
        write $write:expr, read $read:expr
    ) => {
        #[derive(Clone, Debug, Default, Replicated)]
        pub(crate) struct $type {
            #[replicated]
            $(#[$attribute])*
            value: $field,
        }

        impl Sample for $type {
            const NAME: &'static str = $name;

            fn nth(index: u32) -> Self {
                let values: fn(u32) -> $field = $values;
                Self { value: values(index) }
            }

            #[inline]
            fn write_by_hand(&self, bits: &mut BitWriter) {
                let write: fn(&$field, &mut BitWriter) = $write;
                write(&self.value, bits);
            }

            #[inline]
            fn read_by_hand(bits: &mut BitReader<'_>) -> Self {
                let read: fn(&mut BitReader<'_>) -> $field = $read;
                Self { value: read(bits) }
            }
        }
    };
}

/// An enum without data: one of five postures.
#[derive(Clone, Copy, Debug, Default, PartialEq, NetSerialize)]
pub(crate) enum Stance {
    #[default]
    Standing,
    Crouching,
    Prone,
    Swimming,
    Flying,
}

const STANCES: [Stance; 5] =
    [Stance::Standing, Stance::Crouching, Stance::Prone, Stance::Swimming, Stance::Flying];

sample!(
    Flag = "bool",
    bool,
    |index| index % 3 == 0,
    write | value,
    bits | bits.write(u64::from(*value), 1),
    read | bits | bits.read(1) == 1
);
sample!(
    Short = "u16",
    u16,
    |index| index as u16 * 999,
    write | value,
    bits | bits.write(u64::from(*value), 16),
    read | bits | bits.read(16) as u16
);
sample!(
    Long = "u64",
    u64,
    |index| u64::from(index) << 33 | 5,
    write | value,
    bits | {
        bits.write(*value & 0xffff_ffff, 32);
        bits.write(*value >> 32, 32);
    },
    read | bits | bits.read(32) | bits.read(32) << 32
);
sample!(
    #[replicated(range = -100..=100)]
    Ranged = "i32_in_range",
    i32,
    |index| index as i32 - 30,
    write | value,
    bits | bits.write((*value + 100) as u64, 8),
    read | bits | bits.read(8) as i32 - 100
);
sample!(Real = "f32", f32, |index| index as f32 * 0.37,
    write |value, bits| bits.write(u64::from(value.to_bits()), 32),
    read read_float);
sample!(
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
    Quantized = "f32_quantized",
    f32,
    |index| index as f32 * 0.37 - 9.0,
    write | value,
    bits | bits.write(((f64::from(*value) + 4096.0) / 0.01).round() as u64, 20),
    read | bits | (bits.read(20) as f64 * 0.01 - 4096.0) as f32
);
sample!(
    Vector = "vector",
    [f32; 3],
    |index| [index as f32, 0.5, -3.0],
    write | value,
    bits | value.iter().for_each(|part| bits.write(u64::from(part.to_bits()), 32)),
    read | bits | [read_float(bits), read_float(bits), read_float(bits)]
);
sample!(
    #[replicated(quantize(smallest_three = 10))]
    Rotation = "rotation",
    [f32; 4],
    rotation,
    write | value,
    bits | value.iter().for_each(|part| bits.write(u64::from(part.to_bits()), 32)),
    read | bits | [read_float(bits), read_float(bits), read_float(bits), read_float(bits)]
);
sample!(
    #[replicated(max_len = 31)]
    Text = "string",
    String,
    |index| format!("player-{index:05}"),
    write | value,
    bits | {
        bits.write(value.len() as u64, 5);
        bits.write_bytes(value.as_bytes());
    },
    read | bits | {
        let len = bits.read(5);
        String::from_utf8((0..len).map(|_| bits.read(8) as u8).collect()).expect("names are UTF-8")
    }
);
sample!(
    Choice = "enum",
    Stance,
    |index| STANCES[index as usize % STANCES.len()],
    write | value,
    bits | bits.write(*value as u64, 3),
    read | bits | STANCES[bits.read(3) as usize]
);
sample!(
    Maybe = "option",
    Option<u32>,
    |index| (index % 2 == 0).then_some(index),
    write | value,
    bits | {
        bits.write(u64::from(value.is_some()), 1);
        if let Some(value) = value {
            bits.write(u64::from(*value), 32);
        }
    },
    read | bits | (bits.read(1) == 1).then(|| bits.read(32) as u32)
);
sample!(
    #[replicated(max_len = 15)]
    List = "vec",
    Vec<u16>,
    |index| (0..4).map(|at| at + index as u16).collect(),
    write | value,
    bits | {
        bits.write(value.len() as u64, 4);
        value.iter().for_each(|element| bits.write(u64::from(*element), 16));
    },
    read | bits | {
        let len = bits.read(4);
        (0..len).map(|_| bits.read(16) as u16).collect()
    }
);

fn read_float(bits: &mut BitReader<'_>) -> f32 {
    f32::from_bits(bits.read(32) as u32)
}

fn rotation(index: u32) -> [f32; 4] {
    let angle = index as f32 * 0.05;
    [0.0, angle.sin(), 0.0, angle.cos()]
}
