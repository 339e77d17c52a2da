//! The hand-written encoding of values, and a macro that generates the code for each field of a list.
//!
//! *Invariant:* a value that is read differs from the written value by less than a step.

use crate::bits::{BitReader, BitWriter};

/// A quantisation: values are rounded to steps, which are counted from the least value.
pub(crate) struct Steps {
    pub(crate) least: f32,
    pub(crate) per_unit: f32,
    pub(crate) width: u32,
}

impl Steps {
    #[inline]
    pub(crate) fn write(&self, value: f32, bits: &mut BitWriter) {
        bits.write((((value - self.least) * self.per_unit + 0.5) as u32).into(), self.width);
    }

    pub(crate) fn read(&self, bits: &mut BitReader<'_>) -> f32 {
        bits.read(self.width) as f32 / self.per_unit + self.least
    }
}

/// One number, or an array of numbers.
pub(crate) trait Numbers {
    fn numbers(&self) -> &[f32];
    fn numbers_mut(&mut self) -> &mut [f32];
}

impl Numbers for f32 {
    fn numbers(&self) -> &[f32] {
        std::slice::from_ref(self)
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        std::slice::from_mut(self)
    }
}

impl<const LEN: usize> Numbers for [f32; LEN] {
    fn numbers(&self) -> &[f32] {
        self
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        self
    }
}

/// A value that is written without quantisation.
pub(crate) trait Whole: Copy {
    fn write(self, bits: &mut BitWriter);
    fn read(bits: &mut BitReader<'_>) -> Self;
}

macro_rules! whole {
    ($($type:ty: $width:literal),*) => {
        $(impl Whole for $type {
            #[inline]
            fn write(self, bits: &mut BitWriter) {
                bits.write(self.into(), $width);
            }

            fn read(bits: &mut BitReader<'_>) -> Self {
                bits.read($width) as Self
            }
        })*
    };
}

whole!(u8: 8, u16: 16, u32: 32);

impl Whole for bool {
    #[inline]
    fn write(self, bits: &mut BitWriter) {
        bits.write(self.into(), 1);
    }

    fn read(bits: &mut BitReader<'_>) -> Self {
        bits.read(1) == 1
    }
}

/// Implements [`Row`](crate::rival::Row) for a struct. First come the fields that are quantised, each with
/// its [`Steps`], then the fields that are written whole. Each has a bit in the mask of fields.
macro_rules! row {
    ($type:ty { $($steps_bit:literal $quantised:ident: $steps:expr,)* } { $($bit:literal $field:ident,)* }) => {
        impl crate::rival::Row for $type {
            const ALL: crate::rival::Mask = 0 $(| 1 << $steps_bit)* $(| 1 << $bit)*;

            #[inline]
            fn difference(&self, other: &Self) -> crate::rival::Mask {
                0 $(| u64::from(self.$quantised != other.$quantised) << $steps_bit)*
                    $(| u64::from(self.$field != other.$field) << $bit)*
            }

            #[inline]
            fn write(&self, fields: crate::rival::Mask, bits: &mut crate::bits::BitWriter) {
                $(if fields & 1 << $steps_bit != 0 {
                    self.$quantised.numbers().iter().for_each(|value| $steps.write(*value, bits));
                })*
                $(if fields & 1 << $bit != 0 {
                    crate::fields::Whole::write(self.$field, bits);
                })*
            }

            fn read(&mut self, fields: crate::rival::Mask, bits: &mut crate::bits::BitReader<'_>) {
                $(if fields & 1 << $steps_bit != 0 {
                    self.$quantised.numbers_mut().iter_mut().for_each(|value| *value = $steps.read(bits));
                })*
                $(if fields & 1 << $bit != 0 {
                    self.$field = crate::fields::Whole::read(bits);
                })*
            }
        }
    };
}

pub(crate) use row;
