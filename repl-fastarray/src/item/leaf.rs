//! Item types that are a single value: numbers, strings, references and others. An item that is a single
//! value is always sent whole.
//!
//! *Invariant:* an item type that is a single value has one property, called `0`, and no callbacks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use repl_core::__private::NoCallbacks;
use repl_core::{Layout, ObjectRef};

use super::FastArrayItem;

/// An item type that is a single value. If the items of an array are single values, the attributes of the
/// field that contains the array apply to the items. Items that are structs have attributes on their own
/// fields instead.
#[doc(hidden)]
pub trait LeafItem: FastArrayItem {}

/// Implements [`FastArrayItem`] for types that are a single value, with one property called `0` and without
/// callbacks.
macro_rules! leaves {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        impl<$($generics)*> FastArrayItem for $type {
            const LAYOUT: &'static Layout = &Layout::of::<(Self,)>();

            type CallbackPolicy = NoCallbacks;
        }

        impl<$($generics)*> LeafItem for $type {}
    )*};
}

leaves! {
    [] bool, [] char, [] String,
    [] u8, [] u16, [] u32, [] u64, [] u128, [] usize,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize,
    [] f32, [] f64,
    [T: ?Sized + 'static] ObjectRef<T>,
    [] Box<str>, [] Arc<str>, [] Duration,
    [] IpAddr, [] Ipv4Addr, [] Ipv6Addr, [] SocketAddr, [] SocketAddrV4, [] SocketAddrV6,
    [] NonZero<u8>, [] NonZero<u16>, [] NonZero<u32>, [] NonZero<u64>, [] NonZero<u128>, [] NonZero<usize>,
    [] NonZero<i8>, [] NonZero<i16>, [] NonZero<i32>, [] NonZero<i64>, [] NonZero<i128>, [] NonZero<isize>,
}

#[cfg(feature = "uuid")]
leaves!([] uuid::Uuid);
