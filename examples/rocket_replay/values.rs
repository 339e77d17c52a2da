//! Values as this example replicates them: each mirrors one of the decoder's.
//!
//! *Invariant:* a value made from a decoded one holds every field of it, unrounded: the patterns below name them all, and the compiler
//! checks that they do where the decoder's type allows it.

use boxcars::{ActorId, Attribute, ObjectId, ProductValue, RemoteId, Vector3f, Vector3i};
use repl::prelude::*;

use crate::codec::body::{Body, Moving};
use crate::codec::{body, number, vector};

/// What can be made from a decoded `B`.
pub(crate) trait Mirror<B: ?Sized>: Sized {
    /// The same value.
    fn of(decoded: &B) -> Self;
}

macro_rules! same {
    ($($type:ty)*) => {$(
        impl Mirror<$type> for $type {
            fn of(decoded: &$type) -> Self {
                decoded.clone()
            }
        }
    )*};
}
same!(bool u8 u16 u32 u64 i8 i32 i64 f32 String);

impl<T: Mirror<B>, B> Mirror<Vec<B>> for Vec<T> {
    fn of(decoded: &Vec<B>) -> Self {
        decoded.iter().map(T::of).collect()
    }
}

impl<T: Mirror<B>, B> Mirror<Option<B>> for Option<T> {
    fn of(decoded: &Option<B>) -> Self {
        decoded.as_ref().map(T::of)
    }
}

impl<T: Mirror<B>, B> Mirror<Box<B>> for T {
    fn of(decoded: &Box<B>) -> Self {
        T::of(decoded)
    }
}

impl<T: Mirror<B>, B> Mirror<[B; 3]> for [T; 3] {
    fn of(decoded: &[B; 3]) -> Self {
        decoded.each_ref().map(T::of)
    }
}

/// Declares structs that mirror the decoder's of the same fields. Those that the decoder may extend end in `..`.
macro_rules! mirrors {
    ($(
        $(#[$attribute:meta])*
        $name:ident of $decoded:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* $(..$open:tt)? }
    )*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, NetSerialize)]
        pub(crate) struct $name { $($(#[$of_field])* $field: $type,)* }

        impl Mirror<boxcars::$decoded> for $name {
            fn of(decoded: &boxcars::$decoded) -> Self {
                let boxcars::$decoded { $($field,)* $(..$open)? } = decoded;
                Self { $($field: Mirror::of($field),)* }
            }
        }
    )*};
}
