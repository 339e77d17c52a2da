//! Standard types that are sent as a unit: times, non-zero numbers, addresses, boxes, queues.
//!
//! *Invariant:* each value has exactly one wire form, and bits that are not the wire form of a value are
//! refused.
#![expect(unsafe_code, reason = "types state their own shapes")]

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::time::Duration;

use crate::bits::count::LEAST_BITS;
use crate::bits::{BitReader, BitWriter, ReadError, WriteError, count};
use crate::ids::reference::ReferenceMap;
use crate::object::leaf::{read_wide, write_wide};
use crate::schema::limits::MAX_ELEMENTS;
use crate::schema::property::Property;
use crate::schema::shape::{Around, Shape, WireForm};
use crate::schema::value::NetSerialize;

/// The order of the Exp-Golomb code for seconds.
const SECONDS_ORDER: u32 = 6;
/// Numbers of seconds from this number on are written in 64 bits.
const LONG_SECONDS: u64 = 1 << 32;
const NANOS_A_SECOND: u64 = 1_000_000_000;

/// Implements [`Property`] for a type that has one command in the program.
macro_rules! unit {
    ([$($generics:tt)*] $type:ty, $initial:expr) => {
        // SAFETY: `opaque` describes every such type, because it accesses the value only through the type's
        // own functions.
        unsafe impl<$($generics)*> Property for $type {
            const SHAPE: &'static Shape = &Shape::opaque::<Self>();
            fn initial() -> Self {
                $initial
            }
        }
    };
}

/// Implements [`Property`] and [`NetSerialize`] for types that have one command in the program.
macro_rules! units {
    ($($type:ty, $name:literal, $initial:expr, $write:expr, $read:expr;)*) => {$(
        unit!([] $type, $initial);

        impl NetSerialize for $type {
            const WIRE_NAME: &'static str = $name;

            fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
                let write: fn(&Self, &mut BitWriter) = $write;
                write(self, writer);
                Ok(())
            }

            fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
                let read: fn(&mut BitReader<'_>) -> Result<Self, ReadError> = $read;
                read(reader)
            }

            fn identical(&self, other: &Self) -> bool {
                self == other
            }
        }
    )*};
}

units! {
    Duration, "Duration", Self::ZERO, write_duration, read_duration;
    Ipv4Addr, "Ipv4Addr", Self::UNSPECIFIED,
        |address, writer| writer.write_bits(address.to_bits().into(), 32),
        |reader| Ok(Self::from_bits(reader.read_bits(32)? as u32));
    Ipv6Addr, "Ipv6Addr", Self::UNSPECIFIED,
        |address, writer| write_wide(address.to_bits(), writer),
        |reader| Ok(Self::from_bits(read_wide(reader)?));
    IpAddr, "IpAddr", Self::V4(Ipv4Addr::UNSPECIFIED), write_address, read_address;
    SocketAddrV4, "SocketAddrV4", Self::new(Ipv4Addr::UNSPECIFIED, 0), write_socket_v4, read_socket_v4;
    SocketAddrV6, "SocketAddrV6", Self::new(Ipv6Addr::UNSPECIFIED, 0, 0, 0), write_socket_v6, read_socket_v6;
    SocketAddr, "SocketAddr", Self::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)), write_socket, read_socket;
}

/// Implements the traits for non-zero numbers, which are written as the number in its full width. A client
/// refuses a number that is zero.
macro_rules! non_zero {
    ($($number:ty, $name:literal;)*) => {$(
        unit!([] NonZero<$number>, const {
            match Self::new(1) {
                Some(one) => one,
                None => panic!("one is not zero"),
            }
        });

        impl NetSerialize for NonZero<$number> {
            const WIRE_NAME: &'static str = $name;

            fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
                self.get().write(writer)
            }

            fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
                Self::new(<$number>::read(reader, references)?).ok_or(ReadError::OutOfRange)
            }

            fn identical(&self, other: &Self) -> bool {
                self == other
            }
        }
    )*};
}

non_zero! {
    u8, "NonZeroU8";
    u16, "NonZeroU16";
    u32, "NonZeroU32";
    u64, "NonZeroU64";
    u128, "NonZeroU128";
    usize, "NonZeroUsize";
    i8, "NonZeroI8";
    i16, "NonZeroI16";
    i32, "NonZeroI32";
    i64, "NonZeroI64";
    i128, "NonZeroI128";
    isize, "NonZeroIsize";
}

unit!([T: Property + NetSerialize + Clone] Box<T>, Self::new(T::initial()));

/// A box is always sent whole, and is written in the form of its content.
impl<T: NetSerialize> NetSerialize for Box<T> {
    const WIRE_NAME: &'static str = T::WIRE_NAME;
    const WIRE_FORM: &'static WireForm = T::WIRE_FORM;

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        T::write(self, writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        T::read(reader, references).map(Self::new)
    }

    fn identical(&self, other: &Self) -> bool {
        T::identical(self, other)
    }
}

unit!([T: Property + NetSerialize + Clone] VecDeque<T>, Self::new());

/// A queue is written as the number of its elements, then each element whole. The queue is always sent whole,
/// because removing an element from the front changes the index of every other element.
impl<T: NetSerialize> NetSerialize for VecDeque<T> {
    const WIRE_NAME: &'static str = "VecDeque";
    const WIRE_FORM: &'static WireForm = &WireForm::around(
        Self::WIRE_NAME,
        &Around::Sequence(Self::WIRE_NAME, &Around::Nothing),
        T::WIRE_FORM,
    );

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        count::write_count(self.len(), MAX_ELEMENTS, writer)?;
        count::write_elements(self, LEAST_BITS, writer, T::write)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let len = count::read_new_count(MAX_ELEMENTS, LEAST_BITS, reader)?;
        let mut read = |_| {
            count::read_element(reader.position(), LEAST_BITS, reader, |reader| T::read(reader, references))
        };
        (0..len).map(&mut read).collect()
    }

    fn identical(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(one, other)| one.identical(other))
    }
}

/// Implements the traits for UUIDs, which are written as 128 bits.
#[cfg(feature = "uuid")]
mod uuid_types {
    use super::*;

    units! {
        uuid::Uuid, "Uuid", Self::nil(),
            |uuid, writer| write_wide(uuid.as_u128(), writer),
            |reader| Ok(Self::from_u128(read_wide(reader)?));
    }
}

fn write_duration(duration: &Duration, writer: &mut BitWriter) {
    let is_long = duration.as_secs() >= LONG_SECONDS;
    writer.write_flag(is_long);
    if is_long {
        writer.write_bits(duration.as_secs(), 64);
    } else {
        writer.write_exp_golomb(duration.as_secs(), SECONDS_ORDER);
    }
    writer.write_below(duration.subsec_nanos().into(), NANOS_A_SECOND);
}

fn read_duration(reader: &mut BitReader<'_>) -> Result<Duration, ReadError> {
    let is_long = reader.read_flag()?;
    let seconds = if is_long { reader.read_bits(64)? } else { reader.read_exp_golomb(SECONDS_ORDER)? };
    if is_long != (seconds >= LONG_SECONDS) {
        return Err(ReadError::OutOfRange);
    }
    Ok(Duration::new(seconds, reader.read_below(NANOS_A_SECOND)? as u32))
}

fn write_address(address: &IpAddr, writer: &mut BitWriter) {
    writer.write_flag(address.is_ipv6());
    match address {
        IpAddr::V4(address) => writer.write_bits(address.to_bits().into(), 32),
        IpAddr::V6(address) => write_wide(address.to_bits(), writer),
    }
}

fn read_address(reader: &mut BitReader<'_>) -> Result<IpAddr, ReadError> {
    Ok(if reader.read_flag()? {
        IpAddr::V6(Ipv6Addr::from_bits(read_wide(reader)?))
    } else {
        IpAddr::V4(Ipv4Addr::from_bits(reader.read_bits(32)? as u32))
    })
}

fn write_socket_v4(socket: &SocketAddrV4, writer: &mut BitWriter) {
    writer.write_bits(socket.ip().to_bits().into(), 32);
    writer.write_bits(socket.port().into(), 16);
}

fn read_socket_v4(reader: &mut BitReader<'_>) -> Result<SocketAddrV4, ReadError> {
    let address = Ipv4Addr::from_bits(reader.read_bits(32)? as u32);
    Ok(SocketAddrV4::new(address, reader.read_bits(16)? as u16))
}

/// Writes an IPv6 socket address. The flow information and the scope are usually zero. Then both together
/// take one bit on the wire.
fn write_socket_v6(socket: &SocketAddrV6, writer: &mut BitWriter) {
    write_wide(socket.ip().to_bits(), writer);
    writer.write_bits(socket.port().into(), 16);
    let (flow, scope) = (socket.flowinfo(), socket.scope_id());
    let has_either = flow | scope != 0;
    writer.write_flag(has_either);
    if has_either {
        writer.write_bits(flow.into(), 32);
        writer.write_bits(scope.into(), 32);
    }
}

fn read_socket_v6(reader: &mut BitReader<'_>) -> Result<SocketAddrV6, ReadError> {
    let address = Ipv6Addr::from_bits(read_wide(reader)?);
    let port = reader.read_bits(16)? as u16;
    if !reader.read_flag()? {
        return Ok(SocketAddrV6::new(address, port, 0, 0));
    }
    let (flow, scope) = (reader.read_bits(32)? as u32, reader.read_bits(32)? as u32);
    if flow | scope == 0 {
        Err(ReadError::OutOfRange)
    } else {
        Ok(SocketAddrV6::new(address, port, flow, scope))
    }
}

fn write_socket(socket: &SocketAddr, writer: &mut BitWriter) {
    writer.write_flag(socket.is_ipv6());
    match socket {
        SocketAddr::V4(socket) => write_socket_v4(socket, writer),
        SocketAddr::V6(socket) => write_socket_v6(socket, writer),
    }
}

fn read_socket(reader: &mut BitReader<'_>) -> Result<SocketAddr, ReadError> {
    Ok(if reader.read_flag()? {
        SocketAddr::V6(read_socket_v6(reader)?)
    } else {
        SocketAddr::V4(read_socket_v4(reader)?)
    })
}
