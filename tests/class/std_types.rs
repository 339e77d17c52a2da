//! Common types of the standard library as fields, elements, keys, values and items.
//!
//! *Invariant:* the received value equals the sent one. Bits that are not the form of any value are refused.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroI8, NonZeroU16, NonZeroU32};
use std::sync::Arc;
use std::time::Duration;

use crate::pair::Pair;
use repl::prelude::*;
use repl::{BitReader, BitWriter, NetSerialize, NoObjects, ReadError, ReferenceMap, WriteError};

fn written<T: NetSerialize>(value: &T) -> BitWriter {
    let mut writer = BitWriter::new();
    value.write(&mut writer).expect("it has a form");
    writer
}

fn read<T: NetSerialize>(bytes: &[u8]) -> Result<T, ReadError> {
    T::read(&mut BitReader::new(bytes), &mut ReferenceMap::new(&NoObjects))
}

/// Returns how many bits a value takes. Asserts that these bits read as the same value.
fn bits_of<T: NetSerialize + PartialEq + std::fmt::Debug>(value: T) -> usize {
    let writer = written(&value);
    let bits = writer.bit_len();
    let bytes = writer.into_bytes();
    let mut reader = BitReader::new(&bytes);
    assert_eq!(T::read(&mut reader, &mut ReferenceMap::new(&NoObjects)), Ok(value));
    assert_eq!(reader.position(), bits);
    bits
}

const LOCAL: Ipv6Addr = Ipv6Addr::LOCALHOST;

#[test]
fn each_type_reads_as_the_written_value_and_takes_few_bits() {
    assert_eq!(bits_of(Duration::ZERO), 1 + 7 + 30);
    assert_eq!(bits_of(Duration::from_millis(1_500)), 1 + 7 + 30);
    assert_eq!(bits_of(Duration::MAX), 1 + 64 + 30);
    assert_eq!(bits_of(Duration::from_secs(1 << 32)), 1 + 64 + 30);
    assert_eq!((bits_of(NonZeroU16::MIN), bits_of(NonZeroI8::MIN)), (16, 8));
    assert_eq!((bits_of(Ipv4Addr::LOCALHOST), bits_of(LOCAL)), (32, 128));
    assert_eq!((bits_of(IpAddr::V4(Ipv4Addr::LOCALHOST)), bits_of(IpAddr::V6(LOCAL))), (33, 129));
    assert_eq!(bits_of(SocketAddr::from((Ipv4Addr::LOCALHOST, 7_777))), 1 + 48);
    assert_eq!(bits_of(SocketAddr::V6(SocketAddrV6::new(LOCAL, 7, 0, 0))), 1 + 144 + 1);
    assert_eq!(bits_of(SocketAddrV6::new(LOCAL, 7, 1, 2)), 144 + 1 + 64);
    assert_eq!(bits_of(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7)), 48);
    assert_eq!(bits_of(Box::new(7_u16)), 16);
    assert_eq!(bits_of(VecDeque::from([true, false])), 4 + 2 * 8);
    assert_eq!((bits_of(Box::<str>::from("☂")), bits_of(Arc::<str>::from("☂"))), (4 + 24, 4 + 24));
}

#[test]
fn bits_that_no_value_writes_are_refused() {
    assert_eq!(read::<NonZeroU32>(&[0; 4]), Err(ReadError::OutOfRange));
    // A second has 10^9 nanoseconds. The 30 bits can hold greater numbers, but these are refused.
    let mut writer = BitWriter::new();
    writer.write_flag(false);
    writer.write_exp_golomb(0, 6);
    writer.write_bits(1_000_000_000, 30);
    assert_eq!(read::<Duration>(&writer.into_bytes()), Err(ReadError::OutOfRange));
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    writer.write_bits(5, 64);
    writer.write_bits(0, 30);
    assert_eq!(read::<Duration>(&writer.into_bytes()), Err(ReadError::OutOfRange), "5 s have a shorter form");
    assert_eq!(
        read::<SocketAddrV6>(&[[0; 18].as_slice(), &[1, 0, 0, 0, 0, 0, 0, 0, 0]].concat()),
        Err(ReadError::OutOfRange)
    );
    assert_eq!(read::<IpAddr>(&[1, 2]), Err(ReadError::End));
    assert!(read::<VecDeque<u8>>(&[0xff, 0xff]).is_err(), "a claimed length takes no memory");
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Gear {
    name: String,
    weight: u16,
}

#[derive(Replicated, Debug, Default, PartialEq)]
#[replicated(all)]
struct Host {
    uptime: Duration,
    limit: Option<NonZeroU32>,
    address: Option<SocketAddr>,
    peers: Vec<IpAddr>,
    #[replicated(max_len = 8)]
    name: Box<str>,
    #[replicated(max_len = 8)]
    region: Arc<str>,
    aliases: Vec<Arc<str>>,
    gear: Box<Gear>,
    rounds: Box<[u16; 2]>,
    seen: HashMap<IpAddr, Duration>,
    ports: BTreeMap<NonZeroU16, Box<str>>,
    laps: FastArray<Duration>,
    jobs: VecDeque<Gear>,
}

fn host() -> Host {
    Host {
        uptime: Duration::from_millis(90_500),
        limit: NonZeroU32::new(5),
        address: Some(([10, 0, 0, 1], 80).into()),
        peers: vec![Ipv4Addr::LOCALHOST.into(), LOCAL.into()],
        name: "alpha".into(),
        region: "eu".into(),
        aliases: vec!["a".into(), "b".into()],
        gear: Box::new(Gear { name: "rope".into(), weight: 3 }),
        rounds: Box::new([1, 2]),
        seen: HashMap::from([(LOCAL.into(), Duration::from_secs(1))]),
        ports: BTreeMap::from([(NonZeroU16::MIN, "one".into())]),
        laps: [Duration::from_secs(61)].into(),
        jobs: [Gear { name: "row".into(), weight: 1 }].into(),
    }
}

#[test]
fn they_are_fields_elements_keys_values_and_items() {
    let mut pair = Pair::<Host>::new();
    assert!(pair.compare().is_empty(), "an object begins with the same values on both sides");
    pair.update(|live| *live = host());
    assert_eq!(pair.replica, host());
    pair.update(|live| {
        live.seen.insert(LOCAL.into(), Duration::from_secs(2));
        live.ports.remove(&NonZeroU16::MIN);
        live.gear.weight = 4;
        live.aliases[1] = "c".into();
        live.jobs.push_front(Gear::default());
        live.jobs.pop_back();
    });
    assert_eq!(pair.replica.seen[&IpAddr::V6(LOCAL)], Duration::from_secs(2));
    assert_eq!((pair.replica.ports.len(), pair.replica.gear.weight, &*pair.replica.aliases[1]), (0, 4, "c"));
    assert_eq!(pair.replica.jobs, [Gear::default()]);
    assert!(pair.compare().is_empty());
}

#[test]
fn text_that_is_too_long_for_its_field_is_refused_in_every_container() {
    let mut pair = Pair::<Host>::new();
    pair.edit(|live| (live.name, live.region) = ("too long for it".into(), "also too long".into()));
    let errors: Vec<WriteError> = pair.refusals.iter().map(|refusal| refusal.error.clone()).collect();
    assert_eq!(errors, [15, 13].map(|len| WriteError::TooLong { len, max: 8 }));
    assert_eq!((&*pair.shadow.name, &*pair.shadow.region), ("", ""));
}

#[test]
fn text_has_one_form_in_every_container() {
    #[derive(Replicated, Default)]
    #[replicated(name = "Sign")]
    struct Owned {
        #[replicated]
        text: String,
    }
    #[derive(Replicated, Default)]
    #[replicated(name = "Sign")]
    struct Boxed {
        #[replicated]
        text: Box<str>,
    }
    #[derive(Replicated)]
    #[replicated(name = "Sign")]
    struct Shared {
        #[replicated]
        text: Arc<str>,
    }
    impl Default for Shared {
        fn default() -> Self {
            Self { text: "".into() }
        }
    }
    assert_eq!(Owned::LAYOUT.checksum(), Boxed::LAYOUT.checksum());
    assert_eq!(Owned::LAYOUT.checksum(), Shared::LAYOUT.checksum());
    assert_eq!(written(&"☂".to_owned()), written(&Arc::<str>::from("☂")));
}

#[test]
fn a_uuid_is_a_field_a_key_and_an_item() {
    use uuid::Uuid;

    #[derive(Replicated, Debug, Default, PartialEq)]
    #[replicated(all)]
    struct Account {
        id: Uuid,
        friends: HashMap<Uuid, u8>,
        invited: FastArray<Uuid>,
    }

    let id = |number: u128| Uuid::from_u128(number << 64 | 7);
    assert_eq!(bits_of(id(3)), 128);
    let mut pair = Pair::<Account>::new();
    pair.update(|live| {
        *live = Account { id: id(1), friends: HashMap::from([(id(2), 5)]), invited: [id(3)].into() };
    });
    assert_eq!(pair.replica, pair.live);
}
