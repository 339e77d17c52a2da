//! Codecs and formats. A codec describes the wire form of one leaf (a value that is sent as a unit). A format
//! is the wire form that the attributes of a field choose.
//!
//! *Invariant:* a codec contains the width, the range and all rules of the leaf, so code that has the codec
//! needs no attributes.

use std::ops::RangeInclusive;

use crate::schema::checksum::Checksum;
use crate::schema::opaque::OpaqueLeaf;
use crate::schema::quantize::{Quantizer, SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};

/// The wire form of one leaf.
#[derive(Clone, Copy)]
pub(crate) enum Codec {
    /// A `bool` in one bit.
    Bool,
    /// An integer of up to 64 bits, written as its difference from `min`.
    Int(IntCodec),
    /// A `u128` or `i128` in 128 bits.
    Wide,
    /// An `f32` in 32 raw bits.
    F32,
    /// An `f64` in 64 raw bits.
    F64,
    /// An `f32` that is written as a number of quantisation steps.
    QuantizedF32(Quantizer),
    /// An `f64` that is written as a number of quantisation steps.
    QuantizedF64(Quantizer),
    /// A unit quaternion `[f32; 4]`, written as the index of its largest component, and the other three
    /// components in `bits` bits each.
    SmallestThree { bits: u8, exact: bool },
    /// A unit vector `[f32; 3]`, written as a point on an octahedron, with two coordinates of `bits` bits
    /// each.
    UnitVector { bits: u8, exact: bool },
    /// A `char`, written as one bit for the width, then 7 or 21 bits.
    Char,
    /// A text in UTF-8 of at most `max_bytes`, in a `String` or in another type.
    String { max_bytes: u32, text: TextLeaf },
    /// A reference to an object, written as a guid or null.
    Reference,
    /// A reference to an asset, written as its number or null.
    Asset,
    /// A value that the functions of its own type write and read.
    Opaque(OpaqueLeaf),
}

/// The functions that access a text in memory.
#[derive(Clone, Copy)]
pub(crate) struct TextLeaf {
    /// Whether the type that contains the text is `String`.
    pub(crate) is_string: bool,
    pub(crate) get: unsafe fn(*const u8) -> *const str,
    pub(crate) set: unsafe fn(*mut u8, String),
    pub(crate) copy: unsafe fn(*const u8, *mut u8),
}

/// The codec of an integer: its range, and its width in memory and on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntCodec {
    pub(crate) repr: Repr,
    /// The least value of the range, sign-extended to 64 bits.
    pub(crate) min: u64,
    /// The greatest value of the range minus the least value.
    pub(crate) span: u64,
    /// The number of bits on the wire.
    pub(crate) bits: u8,
    /// Whether a value outside the range is replaced by the nearest bound when it is written. If saturation
    /// is off, such a value is refused.
    pub(crate) saturate: bool,
}

/// An integer type as it is stored in memory. `usize` and `isize` are written as 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repr {
    U8,
    U16,
    U32,
    U64,
    Usize,
    I8,
    I16,
    I32,
    I64,
    Isize,
}

/// The wire form that an attribute sets for the leaves of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Format {
    /// The form that the type has without an attribute.
    #[default]
    Native,
    /// `bits = n`: an integer in `n` bits, two's complement if signed.
    Bits {
        /// The number of bits, 1 to 64.
        bits: u8,
        /// Whether a value outside the range is replaced by the nearest bound when it is written. If
        /// saturation is off, such a value is refused.
        saturate: bool,
    },
    /// `range = a..=b`: an integer between two bounds, both included.
    Range {
        /// The least value of the range.
        min: i128,
        /// The greatest value of the range.
        max: i128,
        /// Whether a value outside the range is replaced by the nearest bound when it is written. If
        /// saturation is off, such a value is refused.
        saturate: bool,
    },
    /// `quantize(step = s, range = a..=b)`: a float as a number of steps above `min`, rounded to the nearest
    /// number.
    Quantize {
        /// The size of a quantisation step, which is above zero.
        step: f64,
        /// The least value of the range.
        min: f64,
        /// The greatest value of the range.
        max: f64,
        /// Whether a value outside the range is replaced by the nearest bound when it is written. If
        /// saturation is off, such a value is refused. A float that is NaN is always refused.
        saturate: bool,
        /// Whether clients always show the nearest step. Otherwise clients keep the sent step until the value
        /// differs from it by more than ¾ of a step.
        exact: bool,
    },
    /// `quantize(smallest_three = n)`: a unit quaternion `[f32; 4]`.
    SmallestThree {
        /// The number of bits of each of the three written components, 3 to 20.
        bits: u8,
        /// Whether clients always show the nearest form. Otherwise clients keep the sent form until a
        /// component has changed by more than a quarter of a step.
        exact: bool,
    },
    /// `quantize(unit_vector = n)`: a unit vector `[f32; 3]`.
    UnitVector {
        /// The number of bits of each of the two coordinates, 2 to 22.
        bits: u8,
        /// Whether clients always show the nearest form, as for `SmallestThree`.
        exact: bool,
    },
}

/// Describes a value whose wire form equals its form in memory, except for the highest bit of a signed
/// integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direct {
    /// The number of bytes in memory: 1, 2, 4 or 8.
    pub(crate) bytes: u8,
    /// The number of bits on the wire.
    pub(crate) bits: u8,
    /// The bits that are inverted on the wire.
    pub(crate) flip: u64,
}

impl Codec {
    /// Returns the direct form of the codec, or `None` if the wire form of a value differs from its form in
    /// memory.
    pub(crate) const fn direct(&self) -> Option<Direct> {
        match self {
            Self::Bool => Some(Direct { bytes: 1, bits: 1, flip: 0 }),
            Self::F32 => Some(Direct { bytes: 4, bits: 32, flip: 0 }),
            Self::F64 => Some(Direct { bytes: 8, bits: 64, flip: 0 }),
            Self::Int(int) => int.direct(),
            _ => None,
        }
    }
}

impl IntCodec {
    const fn direct(&self) -> Option<Direct> {
        // On some targets `usize` has another size in memory than on the wire.
        if matches!(self.repr, Repr::Usize | Repr::Isize) || self.bits != self.repr.bits() {
            return None;
        }
        let span = u64::MAX >> (64 - self.bits);
        let flip = self.min & span;
        if self.span != span || self.min != self.repr.min() as u64 {
            return None;
        }
        Some(Direct { bytes: self.bits / 8, bits: self.bits, flip })
    }
}

impl Repr {
    const fn bits(self) -> u8 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 => 32,
            Self::U64 | Self::I64 | Self::Usize | Self::Isize => 64,
        }
    }

    const fn signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::Isize)
    }

    const fn min(self) -> i128 {
        if self.signed() { -(1 << (self.bits() - 1)) } else { 0 }
    }

    const fn max(self) -> i128 {
        self.min() + ((1 << self.bits()) - 1)
    }
}

pub(crate) const fn is_within(bits: u8, widths: &RangeInclusive<u8>) -> bool {
    *widths.start() <= bits && bits <= *widths.end()
}

impl IntCodec {
    pub(crate) const fn full(repr: Repr) -> Self {
        Self::between(repr, repr.min(), repr.max(), false)
    }

    const fn between(repr: Repr, min: i128, max: i128, saturate: bool) -> Self {
        assert!(min <= max, "the range is empty: write its least value first");
        assert!(repr.min() <= min && max <= repr.max(), "the range does not fit the field's integer type");
        let span = (max - min) as u128;
        Self {
            repr,
            min: min as u64,
            span: span as u64,
            bits: (u64::BITS - (span as u64).leading_zeros()) as u8,
            saturate,
        }
    }

    const fn in_bits(repr: Repr, bits: u8, saturate: bool) -> Self {
        assert!(
            bits >= 1 && bits <= repr.bits(),
            "`bits` must be from 1 to the width of the field's integer type"
        );
        let count = 1i128 << bits;
        let min = if repr.signed() { -(count / 2) } else { 0 };
        Self::between(repr, min, min + count - 1, saturate)
    }

    /// Returns whether the codec has a wire form for every value of the type.
    pub(crate) const fn is_native(&self) -> bool {
        self.span == u64::MAX >> (64 - self.repr.bits())
    }

    /// Returns the least and the greatest value that the integer codec accepts.
    pub(crate) const fn bounds(&self) -> (i128, i128) {
        let min = if self.repr.signed() { self.min as i64 as i128 } else { self.min as i128 };
        (min, min + self.span as i128)
    }
}

impl Codec {
    pub(crate) const fn smallest_three(bits: u8, exact: bool) -> Self {
        assert!(
            is_within(bits, &SMALLEST_THREE_BITS),
            "`smallest_three` cannot take so many bits a component"
        );
        Self::SmallestThree { bits, exact }
    }

    pub(crate) const fn unit_vector(bits: u8, exact: bool) -> Self {
        assert!(is_within(bits, &UNIT_VECTOR_BITS), "`unit_vector` cannot take so many bits a coordinate");
        Self::UnitVector { bits, exact }
    }

    /// Returns this codec, changed to the format and the maximum length that attributes set.
    pub(crate) const fn formatted(self, format: Format, max_len: Option<u32>) -> Self {
        let formatted = match (self, format) {
            (codec, Format::Native) => codec,
            (Self::Int(int), Format::Bits { bits, saturate }) => {
                Self::Int(IntCodec::in_bits(int.repr, bits, saturate))
            }
            (Self::Int(int), Format::Range { min, max, saturate }) => {
                Self::Int(IntCodec::between(int.repr, min, max, saturate))
            }
            (Self::F32, Format::Quantize { step, min, max, saturate, exact }) => {
                Self::QuantizedF32(Quantizer::new(min, max, step, saturate).exact_if(exact))
            }
            (Self::F64, Format::Quantize { step, min, max, saturate, exact }) => {
                Self::QuantizedF64(Quantizer::new(min, max, step, saturate).exact_if(exact))
            }
            _ => panic!(
                "the attribute does not fit the field's type: `bits` and `range` are for integers, `quantize` is for floats"
            ),
        };
        match (formatted, max_len) {
            (Self::String { text, .. }, Some(max_bytes)) => Self::String { max_bytes, text },
            (codec, _) => codec,
        }
    }

    /// Returns the number of bits that every value takes on the wire. Returns `None` if this number depends
    /// on the value.
    pub(crate) const fn width_bits(&self) -> Option<u32> {
        Some(match self {
            Self::Bool => 1,
            Self::Int(int) => int.bits as u32,
            Self::Wide => 128,
            Self::F32 => 32,
            Self::F64 => 64,
            Self::QuantizedF32(quantizer) | Self::QuantizedF64(quantizer) => quantizer.bits(),
            Self::SmallestThree { bits, .. } => 2 + 3 * *bits as u32,
            Self::UnitVector { bits, .. } => 2 * *bits as u32,
            Self::Char | Self::String { .. } | Self::Reference | Self::Asset | Self::Opaque(_) => {
                return None;
            }
        })
    }

    /// Returns the size of a value in memory, in bytes, if this size is the same on every target. In this
    /// function, `usize` counts as 8 bytes.
    pub(crate) const fn bytes(&self) -> Option<u32> {
        Some(match self {
            Self::Bool => 1,
            Self::Int(int) => int.repr.bits() as u32 / 8,
            Self::Wide => 16,
            Self::F32 | Self::QuantizedF32(_) | Self::Char | Self::Asset => 4,
            Self::F64 | Self::QuantizedF64(_) => 8,
            Self::SmallestThree { .. } => 16,
            Self::UnitVector { .. } => 12,
            Self::String { .. } | Self::Reference | Self::Opaque(_) => return None,
        })
    }

    /// Returns whether the values are of the type `String`, and are equal if and only if their bytes are.
    pub(crate) const fn is_string(&self) -> bool {
        match self {
            Self::String { text, .. } => text.is_string,
            Self::Opaque(OpaqueLeaf { delta: Some(delta), .. }) => delta.is_string,
            _ => false,
        }
    }

    /// Returns whether some values of the type have no wire form, or have the same wire form as other values.
    /// A value of such a type is encoded as a test before it is copied to the shadow.
    pub(crate) const fn must_be_tried(&self) -> bool {
        match self {
            Self::Int(int) => !int.is_native(),
            Self::Bool | Self::Wide | Self::F32 | Self::F64 | Self::Char | Self::Reference | Self::Asset => {
                false
            }
            Self::QuantizedF32(_)
            | Self::QuantizedF64(_)
            | Self::SmallestThree { .. }
            | Self::UnitVector { .. }
            | Self::String { .. }
            | Self::Opaque(_) => true,
        }
    }

    /// Returns whether values can contain references to objects or assets. For an opaque value, its own
    /// serialiser decides this.
    pub(crate) const fn may_refer(&self) -> bool {
        matches!(self, Self::Reference | Self::Asset | Self::Opaque(_))
    }

    /// Returns whether two values that differ in memory may have the same wire form.
    pub(crate) const fn is_lossy(&self) -> bool {
        match self {
            Self::Int(int) => int.saturate,
            Self::Bool
            | Self::Wide
            | Self::F32
            | Self::F64
            | Self::Char
            | Self::Reference
            | Self::Asset
            | Self::String { .. } => false,
            Self::QuantizedF32(_)
            | Self::QuantizedF64(_)
            | Self::SmallestThree { .. }
            | Self::UnitVector { .. }
            | Self::Opaque(_) => true,
        }
    }

    /// Returns whether a property keeps its value on clients until it has changed by more than a margin,
    /// which is a part of a quantisation step.
    pub(crate) const fn has_margin(&self) -> bool {
        match self {
            Self::QuantizedF32(quantizer) | Self::QuantizedF64(quantizer) => !quantizer.is_exact(),
            Self::SmallestThree { exact, .. } | Self::UnitVector { exact, .. } => !*exact,
            Self::Bool
            | Self::Int(_)
            | Self::Wide
            | Self::F32
            | Self::F64
            | Self::Char
            | Self::String { .. }
            | Self::Reference
            | Self::Asset
            | Self::Opaque(_) => false,
        }
    }

    pub(crate) const fn checksum(&self, sum: Checksum) -> Checksum {
        match self {
            Self::Bool => sum.number(1),
            Self::Int(int) => sum.number(2).number(int.min).number(int.span).number(int.bits as u64),
            Self::Wide => sum.number(3),
            Self::F32 => sum.number(4),
            Self::F64 => sum.number(5),
            Self::QuantizedF32(quantizer) | Self::QuantizedF64(quantizer) => {
                quantizer.checksum(sum.number(6))
            }
            Self::SmallestThree { bits, .. } => sum.number(7).number(*bits as u64),
            Self::UnitVector { bits, .. } => sum.number(8).number(*bits as u64),
            Self::Char => sum.number(9),
            Self::String { max_bytes, .. } => sum.number(10).number(*max_bytes as u64),
            Self::Reference => sum.number(11),
            Self::Opaque(leaf) => sum.number(12).number(leaf.checksum),
            Self::Asset => sum.number(13),
        }
    }
}
