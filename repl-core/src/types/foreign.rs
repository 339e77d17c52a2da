//! Types of other crates as fields. The types of each crate need the cargo feature with the name of the
//! crate. A feature for an older version has this version in its name.
//!
//! *Invariant:* a type of another crate is written as the numbers that it consists of in memory.
#![cfg_attr(
    any(feature = "glam", feature = "glam-0-33"),
    expect(unsafe_code, reason = "types state their own shapes")
)]

/// The vectors and quaternions of `glam`, replicated as arrays of their components. Each version of `glam`
/// has a feature of its own. The types have the same wire forms in all versions.
#[cfg(any(feature = "glam", feature = "glam-0-33"))]
mod glam_types {
    use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
    use crate::ids::reference::ReferenceMap;
    use crate::object::whole;
    use crate::schema::attributes::{Quantizable, Ranged, UnitQuaternion, UnitVector};
    use crate::schema::location::Coordinates;
    use crate::schema::property::Property;
    use crate::schema::shape::{Field, Shape, WireForm};
    use crate::schema::value::NetSerialize;
    use crate::types::std::net_serialize_by_shape;

    macro_rules! components {
        ($glam:ident: $($type:ident: [$component:ty; $len:literal] $($fit:ident)*;)*) => {$(
            const _: () = assert!(
                size_of::<$glam::$type>() == size_of::<[$component; $len]>()
                    && align_of::<$glam::$type>() >= align_of::<[$component; $len]>()
            );

            // SAFETY: a value of the type consists of its components, one after the other, without padding.
            // The assertion above and glam's own `AsRef<[component; len]>` show that there is no padding.
            unsafe impl Property for $glam::$type {
                const SHAPE: &'static Shape =
                    &Shape::fixed_array::<Self>(stringify!($type), <$component as Property>::SHAPE, $len);
                fn initial() -> Self {
                    Self::default()
                }
            }
            net_serialize_by_shape!([] $glam::$type, stringify!($type));
            $(impl $fit for $glam::$type {})*
        )*};
    }

    macro_rules! coordinates {
        ($glam:ident: $($type:ident)*) => {$(
            impl Coordinates for $glam::$type {
                const IS_FLAT: bool = Self::AXES.len() == 2;

                fn coordinates(&self) -> [f32; 3] {
                    self.to_array().coordinates()
                }
            }
        )*};
    }

    /// Implements the traits of fields for the types of one version of `glam`.
    macro_rules! types_of {
        ($glam:ident) => {
            components! { $glam:
                Vec2: [f32; 2] Quantizable;
                Vec3: [f32; 3] Quantizable UnitVector;
                Vec4: [f32; 4] Quantizable;
                Quat: [f32; 4] UnitQuaternion;
                DVec2: [f64; 2] Quantizable;
                DVec3: [f64; 3] Quantizable;
                IVec2: [i32; 2] Ranged;
                IVec3: [i32; 3] Ranged;
                UVec2: [u32; 2] Ranged;
                UVec3: [u32; 3] Ranged;
            }
            coordinates! { $glam: Vec2 Vec3 DVec2 DVec3 IVec2 IVec3 UVec2 UVec3 }
        };
    }

    #[cfg(feature = "glam")]
    types_of!(glam);
    #[cfg(feature = "glam-0-33")]
    types_of!(glam_033);
}

/// Makes a type that was made by `bitflags!` usable as a field. All flags of a value are sent together as one
/// integer. A value in which bits without names are set has no wire form, so the server refuses to send it.
///
/// ```
/// bitflags::bitflags! {
///     #[derive(Clone, Copy, Debug, Default, PartialEq)]
///     struct Keys: u8 {
///         const FORWARD = 1;
///         const FIRE = 2;
///     }
/// }
/// repl_core::flags!(Keys);
/// ```
#[cfg(feature = "bitflags")]
#[macro_export]
macro_rules! flags {
    ($type:ty) => {
        impl $crate::NetSerialize for $type {
            const WIRE_NAME: &'static str = ::core::stringify!($type);
            const WIRE_FORM: &'static $crate::WireForm = &$crate::WireForm::by_hand::<Self>().parameters(&[
                ("bits", ::core::mem::size_of::<Self>() as u128 * 8),
                ("flags", Self::all().bits() as u128),
            ]);

            fn write(
                &self,
                writer: &mut $crate::BitWriter,
            ) -> ::core::result::Result<(), $crate::WriteError> {
                if Self::from_bits(self.bits()).is_none() {
                    return ::core::result::Result::Err($crate::WriteError::OutOfRange);
                }
                $crate::NetSerialize::write(&self.bits(), writer)
            }

            fn read(
                reader: &mut $crate::BitReader<'_>,
                references: &mut $crate::ReferenceMap<'_>,
            ) -> ::core::result::Result<Self, $crate::ReadError> {
                let bits = $crate::NetSerialize::read(reader, references)?;
                Self::from_bits(bits).ok_or($crate::ReadError::UnknownVariant)
            }

            fn identical(&self, other: &Self) -> bool {
                self.bits() == other.bits()
            }
        }
        $crate::leaf!($type);
    };
}

#[cfg(all(test, feature = "glam"))]
mod tests {
    use crate::BitWriter;
    use crate::Coordinates;
    use crate::NetSerialize;
    use crate::NoObjects;
    use crate::ReferenceMap;

    #[test]
    fn vectors_and_quaternions_are_sent_as_their_components() {
        let mut writer = BitWriter::new();
        let (position, facing) = (glam::Vec3::new(1.0, -2.5, 3.0), glam::Quat::from_xyzw(0.0, 0.6, 0.0, 0.8));
        position.write(&mut writer).unwrap();
        facing.write(&mut writer).unwrap();
        assert_eq!(writer.bit_len(), 7 * 32);
        let (bits, mut references) = (writer.as_slice(), ReferenceMap::new(&NoObjects));
        let mut reader = bits.reader();
        assert_eq!(glam::Vec3::read(&mut reader, &mut references), Ok(position));
        assert_eq!(glam::Quat::read(&mut reader, &mut references), Ok(facing));
    }

    #[test]
    fn vectors_are_positions_and_those_of_two_numbers_are_in_a_plane() {
        assert_eq!(glam::Vec3::new(1.0, -2.5, 3.0).coordinates(), [1.0, -2.5, 3.0]);
        assert_eq!(glam::DVec2::new(1.0, -2.5).coordinates(), [1.0, -2.5, 0.0]);
        assert_eq!(glam::IVec2::new(1, -2).coordinates(), [1.0, -2.0, 0.0]);
        const { assert!(glam::UVec2::IS_FLAT && glam::DVec2::IS_FLAT && !glam::DVec3::IS_FLAT) }
    }
}

#[cfg(all(test, feature = "glam", feature = "glam-0-33"))]
mod glam_version_tests {
    use crate::{BitWriter, Coordinates, NetSerialize, NoObjects, Property, ReferenceMap};

    /// Compares the wire forms of types with the same name in two versions of a crate.
    macro_rules! assert_agree {
        ($($type:ident)*) => {$(
            assert_eq!(<glam::$type>::WIRE_NAME, <glam_033::$type>::WIRE_NAME);
            assert_eq!(<glam::$type>::WIRE_FORM.checksum(), <glam_033::$type>::WIRE_FORM.checksum());
        )*};
    }

    #[test]
    fn types_have_the_same_wire_forms_in_both_versions() {
        assert_agree! { Vec2 Vec3 Vec4 Quat DVec2 DVec3 IVec2 IVec3 UVec2 UVec3 }
    }

    #[test]
    fn one_version_reads_what_the_other_version_writes() {
        let mut writer = BitWriter::new();
        glam::Vec3::new(1.0, -2.5, 3.0).write(&mut writer).unwrap();
        let (bits, mut references) = (writer.as_slice(), ReferenceMap::new(&NoObjects));
        let read = glam_033::Vec3::read(&mut bits.reader(), &mut references);
        assert_eq!(read, Ok(glam_033::Vec3::new(1.0, -2.5, 3.0)));
    }

    #[test]
    fn vectors_of_both_versions_are_positions() {
        fn assert_position<T: Property + Coordinates>() {}
        assert_position::<glam::Vec3>();
        assert_position::<glam_033::Vec3>();
    }
}

#[cfg(all(test, feature = "bitflags"))]
mod flag_tests {
    use crate::{BitWriter, NetSerialize, WriteError};

    /// Makes flags called `Keys` in a module of their own.
    macro_rules! keys {
        ($module:ident, $bits:ty, $fire:expr) => {
            mod $module {
                bitflags::bitflags! {
                    #[derive(Clone, Copy, Debug, Default, PartialEq)]
                    pub(super) struct Keys: $bits {
                        const FORWARD = 1;
                        const FIRE = $fire;
                    }
                }
                crate::flags!(Keys);
            }
        };
    }

    keys!(narrow, u8, 2);
    keys!(wide, u16, 2);
    keys!(wider, u128, 1 << 100);
    keys!(widest, u128, 1 << 101);

    #[test]
    fn flags_of_other_widths_or_with_other_names_have_another_checksum() {
        assert_ne!(narrow::Keys::WIRE_FORM.checksum(), wide::Keys::WIRE_FORM.checksum());
        assert_ne!(wider::Keys::WIRE_FORM.checksum(), widest::Keys::WIRE_FORM.checksum());
    }

    #[test]
    fn the_form_of_flags_shows_their_width_and_which_of_them_have_names() {
        let table = wide::Keys::WIRE_FORM.to_string();
        assert!(table.contains("bits     16") && table.contains("flags    3"), "{table}");
    }

    #[test]
    fn flags_without_names_are_refused_by_the_sender() {
        let mut writer = BitWriter::new();
        assert_eq!(narrow::Keys::from_bits_retain(0x81).write(&mut writer), Err(WriteError::OutOfRange));
        assert_eq!(narrow::Keys::all().write(&mut writer), Ok(()));
    }
}

/// Serialises ids of items with `serde`.
#[cfg(feature = "serde")]
mod serde_forms {
    use serde::de::{Error, Unexpected};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::ids::item_id::ItemId;

    /// Serialises an id as its [number](ItemId::number).
    impl Serialize for ItemId {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_u32(self.number())
        }
    }

    /// Deserialises an id from its [number](ItemId::number). The number zero is not an id and is an error.
    impl<'de> Deserialize<'de> for ItemId {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let number = u32::deserialize(deserializer)?;
            Self::new(number)
                .ok_or_else(|| Error::invalid_value(Unexpected::Unsigned(number.into()), &"an id, from 1"))
        }
    }
}
