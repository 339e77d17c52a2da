//! Values on the wire: how many bits they take, and which bits are refused (S92, S107 to S112).

use crate::pair::world::{Mood, World, changes};
use crate::pair::{AllObjects, Pair, receive};
use proptest::prelude::*;
use repl::tools::wire::{read_handles, write_handles};
use repl::tools::{BitSlice, Class, DecodeError, HandleSet};
use repl::{
    BitReader, BitWriter, FastArray, NetSerialize, NoObjects, ObjectRef, ReadError, ReferenceMap, Replicated,
    WriteError,
};

/// Writes a value and reads it again. Returns the value and its number of bits.
fn through_bits<T: NetSerialize>(value: &T) -> (T, usize) {
    let mut writer = BitWriter::new();
    value.write(&mut writer).unwrap();
    let mut reader = BitReader::new(writer.finish());
    let read = T::read(&mut reader, &mut ReferenceMap::new(&AllObjects)).unwrap();
    assert_eq!(reader.position(), writer.bit_len());
    (read, writer.bit_len())
}

fn written<T: NetSerialize>(value: &T) -> Vec<u8> {
    let mut writer = BitWriter::new();
    value.write(&mut writer).unwrap();
    writer.into_bytes()
}

fn read<T: NetSerialize>(bytes: &[u8]) -> Result<T, ReadError> {
    T::read(&mut BitReader::new(bytes), &mut ReferenceMap::new(&NoObjects))
}

#[test]
fn plain_values_take_their_own_width() {
    assert_eq!(through_bits(&true), (true, 1));
    assert_eq!(through_bits(&i8::MIN), (i8::MIN, 8));
    assert_eq!(through_bits(&u64::MAX), (u64::MAX, 64));
    assert_eq!(through_bits(&usize::MAX), (usize::MAX, 64));
    assert_eq!(through_bits(&i128::MIN), (i128::MIN, 128));
    assert_eq!(through_bits(&-0.0_f32).0.to_bits(), (-0.0_f32).to_bits());
    assert_eq!(through_bits(&'x'), ('x', 8));
    assert_eq!(through_bits(&char::MAX), (char::MAX, 22));
    assert_eq!(through_bits(&[1_u8, 2, 3]), ([1, 2, 3], 24));
    assert_eq!(through_bits(&(1_u8, false)), ((1, false), 9));
    assert_eq!(through_bits(&None::<u8>), (None, 1));
    assert_eq!(through_bits(&Some(5_u8)), (Some(5), 9));
    assert_eq!(through_bits(&Vec::<u8>::new()).1, 4);
    assert_eq!(through_bits(&"☂".to_owned()), ("☂".to_owned(), 4 + 24));
    assert_eq!(through_bits(&ObjectRef::<World>::NULL), (ObjectRef::NULL, 1));
}

#[test]
fn an_enum_takes_the_logarithm_of_its_variants() {
    assert_eq!(through_bits(&Mood::Calm).1, 2);
    assert_eq!(through_bits(&Mood::Lost(None)), (Mood::Lost(None), 2 + 1));
    assert_eq!(read::<Mood>(&[3]), Err(ReadError::UnknownVariant).or(Err(ReadError::OutOfRange)));
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum One {
    #[default]
    Only,
}

#[test]
fn a_leaf_without_bits_takes_a_filler_bit_and_may_be_at_the_end() {
    #[derive(Replicated, Default, Debug, PartialEq)]
    #[replicated(all)]
    struct Ones {
        ones: Vec<One>,
        unit: Option<()>,
    }
    let mut pair = Pair::<Ones>::new();
    pair.update(|object| object.ones = vec![One::Only; 100]);
    assert_eq!(pair.replica.ones.len(), 100);
    pair.update(|object| object.unit = Some(()));
    assert_eq!(pair.replica.unit, Some(()));
    pair.update(|object| object.unit = None);
    assert_eq!(pair.replica, pair.live);
    assert_eq!(through_bits(&vec![One::Only; 100]).0.len(), 100);
    assert_eq!(through_bits(&Some(Some(()))).0, Some(Some(())));
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Limits {
    #[replicated(range = -3..=3)]
    small: i32,
    #[replicated(range = 0..=200)]
    byte: u8,
    #[replicated(bits = 3, saturate)]
    three: i64,
    #[replicated(max_len = 3)]
    text: String,
    #[replicated(max_len = 3)]
    list: Vec<bool>,
}

#[test]
fn ranges_take_the_bits_they_need_and_refuse_or_saturate() {
    let (read, bits) = through_bits(&Limits { small: -3, byte: 200, three: 99, ..Limits::default() });
    assert_eq!((read.small, read.byte, read.three), (-3, 200, 3));
    assert_eq!(bits, 3 + 8 + 3 + 4 + 2);
    let refused = |limits: Limits| limits.write(&mut BitWriter::new());
    assert_eq!(refused(Limits { small: 4, ..Limits::default() }), Err(WriteError::OutOfRange));
    assert_eq!(refused(Limits { byte: 201, ..Limits::default() }), Err(WriteError::OutOfRange));
    let too_long = Err(WriteError::TooLong { len: 4, max: 3 });
    assert_eq!(refused(Limits { text: "long".into(), ..Limits::default() }), too_long);
    assert_eq!(refused(Limits { list: vec![true; 4], ..Limits::default() }), too_long);
}

#[test]
fn numbers_outside_their_range_are_refused_by_the_reader() {
    let byte = |byte: u64| {
        let mut writer = BitWriter::new();
        writer.write_bits(0, 3);
        writer.write_bits(byte, 8);
        writer.write_bits(0, 3);
        writer.write_exp_golomb(0, 3);
        writer.write_below(0, 4);
        read::<Limits>(writer.finish()).map(|limits| limits.byte)
    };
    assert_eq!(byte(200), Ok(200));
    assert_eq!(byte(201), Err(ReadError::OutOfRange));
    assert_eq!(read::<char>(&(0xd800_u32 << 1).to_le_bytes()), Err(ReadError::UnknownVariant));
    let long_a = u32::from('a') << 1;
    assert_eq!(read::<char>(&long_a.to_le_bytes()), Err(ReadError::OutOfRange), "it has a shorter form");
    assert_eq!(read::<String>(&[0xf3, 0x0f]), Err(ReadError::InvalidUtf8));
}

#[test]
fn a_claimed_length_is_refused_before_memory_is_taken_for_it() {
    let claim = |len: u64| {
        let mut writer = BitWriter::new();
        writer.write_exp_golomb(len, 3);
        writer.write_bits(0, 40);
        writer.into_bytes()
    };
    assert!(matches!(read::<String>(&claim(4_096)), Err(ReadError::TooLong { len: 4_096, .. })));
    assert!(matches!(read::<Vec<[u64; 64]>>(&claim(2_048)), Err(ReadError::TooLong { len: 2_048, .. })));
    assert!(matches!(read::<Vec<u8>>(&claim(u64::MAX)), Err(ReadError::TooLong { .. })));
    assert!(matches!(read::<Vec<[u64; 64]>>(&claim(6)), Err(ReadError::TooLong { len: 6, max: 5 })));
    assert_eq!(read::<Vec<[u64; 64]>>(&claim(5)), Err(ReadError::End));
}

#[test]
fn a_new_element_takes_a_byte_unless_its_bits_pay_for_its_memory() {
    #[derive(Replicated, Clone, Debug, Default, PartialEq)]
    #[replicated(all)]
    struct Lists {
        #[replicated(range = 0..=15)]
        nibbles: Vec<u8>,
        #[replicated(range = 0..=1)]
        wide: Vec<u32>,
        flags: Vec<bool>,
        large: Vec<Option<[u64; 64]>>,
        hat: Option<Option<u8>>,
    }
    let counts_bits = through_bits(&Lists::default()).1;
    let bits = |lists: Lists| {
        let (read, bits) = through_bits(&lists);
        assert_eq!(read, lists);
        bits - counts_bits
    };
    // A count of 7 takes as many bits as a count of 0.
    assert_eq!(bits(Lists { nibbles: vec![9; 7], ..Lists::default() }), 7 * 4);
    assert_eq!(bits(Lists { flags: vec![true; 7], ..Lists::default() }), 7);
    assert_eq!(bits(Lists { wide: vec![1; 7], ..Lists::default() }), 7 * 8);
    assert_eq!(bits(Lists { large: vec![None; 7], ..Lists::default() }), 7 * 8);
    assert_eq!(bits(Lists { large: vec![Some([1; 64]); 1], ..Lists::default() }), 1 + 64 * 64);
    assert_eq!(bits(Lists { hat: Some(None), ..Lists::default() }), 1);

    let mut pair = Pair::<Lists>::new();
    pair.update(|lists| lists.large = vec![None; 5]);
    let bits = pair.update(|lists| lists.large.push(None));
    assert_eq!(pair.replica, pair.live);
    assert!((8..24).contains(&bits), "an append costs the new element and its place: {bits}");
}

#[test]
fn padding_of_a_new_element_is_zeros() {
    let mut bits = BitWriter::new();
    vec![None::<[u64; 64]>].write(&mut bits).unwrap();
    let bytes = bits.into_bytes();
    assert_eq!(read::<Vec<Option<[u64; 64]>>>(&bytes), Ok(vec![None]));
    let mut dirty = bytes.clone();
    *dirty.last_mut().unwrap() |= 0x08;
    assert_eq!(read::<Vec<Option<[u64; 64]>>>(&dirty), Err(ReadError::OutOfRange));
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Bag {
    owner: u8,
    items: Vec<(u8, Vec<u8>)>,
    hat: Option<u8>,
}

fn bag() -> Pair<Bag> {
    Pair::from(|| Bag { owner: 0, items: vec![(0, vec![0; 2]); 4], hat: None })
}

#[test]
fn s92_the_count_is_sent_with_every_change_of_an_array() {
    let mut pair = bag();
    pair.replica.items.extend([(9, vec![]), (9, vec![])]);
    pair.update(|bag| bag.items[0].0 = 1);
    assert_eq!(pair.replica, pair.live);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Rack {
    first: u8,
    rows: [FastArray<u8>; 2],
    middle: [u8; 26],
    last: u8,
}

#[test]
fn s91_w05_the_handles_come_first_in_the_shorter_form_and_then_all_values() {
    // For a single handle, number 30, a list of handles is shorter than a mask. For six low handles the mask
    // is shorter. For three, both are nearly equal.
    let edits: [fn(&mut Rack); 4] = [
        |rack| rack.last = 7,
        |rack| (rack.first, rack.last) = (1, 9),
        |rack| rack.middle[..6].fill(5),
        |rack| rack.middle[4..7].fill(6),
    ];
    let forms: [(&[u32], bool, usize); 4] = [
        (&[30], true, 1 + 5),
        (&[1, 30], true, 1 + 5 + 1 + 5),
        (&[4, 5, 6, 7, 8, 9], false, 1 + 7 + 8),
        (&[8, 9, 10], false, 1 + 7 + 9),
    ];
    let mut pair = Pair::<Rack>::new();
    for (edit, (handles, is_list, bits)) in edits.into_iter().zip(forms) {
        let changes = pair.edit(edit);
        let mut encoded = pair.encode(&changes);
        let mut reader = encoded.as_slice().reader();
        assert_eq!(reader.read_flag(), Ok(is_list));
        reader.rewind(0);
        assert_eq!(read_handles(30, false, &mut reader), Ok(crate::pair::handles(handles.iter().copied())));
        assert_eq!((reader.position(), reader.remaining()), (bits, 8 * handles.len()), "{handles:?}");
    }
}

#[test]
fn s97_an_array_in_a_fixed_array_has_a_handle_of_its_own_and_one_form() {
    let mut pair = Pair::<Rack>::new();
    let changes = pair.edit(|rack| _ = rack.rows[1].push(5));
    assert_eq!(pair.flat(&changes), [3, 1, 1, 0, 0]);
    let mut bits = pair.encode(&changes);
    pair.receive(&bits).unwrap();
    assert_eq!((pair.replica.rows[0].len(), pair.replica.rows[1].as_slice()), (0, [5].as_slice()));
    let mut reader = bits.as_slice().reader();
    assert_eq!(read_handles(30, false, &mut reader), Ok(crate::pair::handles([3])));
    // The update contains: no removals, an item with the id 1 that is new, the content of the item, and no
    // further id. Nothing stands before these bits.
    assert_eq!(reader.read_bits(2), Ok(0));
    assert_eq!(
        (reader.read_flag(), reader.read_exp_golomb(7), reader.read_flag()),
        (Ok(true), Ok(0), Ok(true))
    );
    assert_eq!((reader.read_bits(8), reader.read_flag(), reader.remaining()), (Ok(5), Ok(false), 0));
}

#[test]
fn s95_s98_values_are_sent_in_the_order_of_handles() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Shelf {
        before: u8,
        books: FastArray<u16>,
        behind: u8,
    }
    let mut pair = Pair::<Shelf>::new();
    let changes = pair.edit(|shelf| {
        (shelf.before, shelf.behind) = (0xa5, 0x5a);
        shelf.books.push(7);
    });
    let mut bits = pair.encode(&changes);
    let mut reader = bits.as_slice().reader();
    assert_eq!(read_handles(3, false, &mut reader), Ok(HandleSet::up_to(3)));
    assert_eq!(reader.read_bits(8), Ok(0xa5));
    let of_books = reader.remaining() - 8;
    assert!(of_books > 16, "the book and its id: {of_books} bits");
    reader.skip_bits(of_books).unwrap();
    assert_eq!(reader.read_bits(8), Ok(0x5a));
}

/// Applies a hand-written update to a replica of [`bag`].
fn update(handles: &[u32], values: impl FnOnce(&mut BitWriter)) -> Result<Bag, DecodeError> {
    let mut writer = BitWriter::new();
    write_handles(&crate::pair::handles(handles.iter().copied()), 3, false, &mut writer);
    values(&mut writer);
    let mut replica = bag().replica;
    let result = receive(&Class::new(), &mut replica, writer.as_slice().reader());
    if result.is_err() {
        assert_eq!(replica, bag().replica, "nothing of what is refused is applied");
    }
    result.map(|()| replica)
}

/// Writes how many items the array has, and the index of the first new item.
fn count(writer: &mut BitWriter, count: u64, tail: Option<u64>) {
    writer.write_exp_golomb(count, 3);
    writer.write_flag(tail.is_some());
    if let Some(tail) = tail {
        writer.write_below(tail, count);
    }
}

#[test]
fn s107_s108_an_unknown_handle_is_refused() {
    let list = |handle: u64| {
        let mut writer = BitWriter::new();
        writer.write_flag(true);
        writer.write_bits(handle, 2);
        writer.write_bits(0, 9);
        receive(&Class::new(), &mut bag().replica, writer.as_slice().reader())
    };
    assert_eq!(list(0), Ok(()));
    assert_eq!(list(3).unwrap_err().reason, ReadError::OutOfRange);

    let mask = |highest: u64| {
        let mut writer = BitWriter::new();
        writer.write_flag(false);
        writer.write_exp_golomb(highest - 1, 0);
        writer.write_bits(0, highest as u32 - 1);
        writer.write_bits(0, 8);
        receive(&Class::new(), &mut bag().replica, writer.as_slice().reader())
    };
    assert_eq!(mask(1), Ok(()));
    assert_eq!(mask(4).unwrap_err().reason, ReadError::OutOfRange);
}

#[test]
fn s108_a_handle_without_a_value_is_refused_and_nothing_before_it_is_applied() {
    let result = update(&[1, 2], |writer| writer.write_bits(7, 8));
    let error = result.unwrap_err();
    assert_eq!((error.property.as_str(), error.reason), ("items", ReadError::End));
}

#[test]
fn s108_s111_element_handles_past_the_old_elements_are_refused() {
    let ranges = |start: u64, len: u64| {
        update(&[2], |writer| {
            count(writer, 4, None);
            writer.write_bits(0b11, 2);
            writer.write_below(start, 8);
            writer.write_exp_golomb(len - 1, 0);
            writer.write_bits(0, 64);
        })
    };
    assert_eq!(ranges(6, 3).unwrap_err().reason, ReadError::OutOfRange);
    assert_eq!(ranges(0, u64::MAX).unwrap_err().reason, ReadError::OutOfRange);
    // Two properties are changed, beginning with handle 7: a number, and an array that becomes empty.
    let fits = update(&[2], |writer| {
        count(writer, 4, None);
        writer.write_bits(0b11, 2);
        writer.write_below(6, 8);
        writer.write_exp_golomb(1, 0);
        writer.write_bits(5, 8);
        writer.write_exp_golomb(0, 3);
    });
    assert_eq!(fits.unwrap().items[3], (5, vec![]));
}

#[test]
fn s109_the_highest_of_65535_handles_is_a_handle() {
    #[derive(Replicated)]
    struct Huge {
        #[replicated]
        bytes: [u8; 65_535],
    }
    impl Default for Huge {
        fn default() -> Self {
            Self { bytes: [0; 65_535] }
        }
    }
    let mut pair = Pair::<Huge>::new();
    let bits = pair.update(|object| object.bytes[65_534] = 1);
    assert_eq!(pair.replica.bytes[65_534], 1);
    assert_eq!(bits, 1 + 16 + 8);
}

#[test]
fn s110_left_over_bits_are_seen() {
    assert!(update(&[1], |writer| writer.write_bits(7, 8)).is_ok());
    assert!(update(&[1], |writer| writer.write_bits(7, 9)).is_err());
}

#[test]
fn s110_every_truncation_is_refused() {
    let mut pair = Pair::<World>::new();
    let changes = pair.edit(|world| (0..15).for_each(|property| world.change((property, 11, 0x0b0b))));
    let bits = pair.encode(&changes);
    let bytes = bits.clone().into_bytes();
    let before = pair.replica.clone();
    for len in 0..bits.bit_len() {
        let part = BitSlice::new(&bytes, 0, len).unwrap();
        assert!(receive(&pair.class, &mut pair.replica, part.reader()).is_err(), "{len} bits");
    }
    assert_eq!(pair.replica, before);
    pair.receive(&bits).unwrap();
}

#[test]
fn s111_a_count_above_the_length_and_the_elements_supplied_is_refused() {
    let grows = |tail| {
        update(&[2], |writer| {
            count(writer, 6, tail);
            writer.write_flag(false);
            (0..2).for_each(|_| writer.write_bits(0x107, 12));
        })
    };
    assert_eq!(grows(Some(4)).unwrap().items.len(), 6);
    let error = grows(None).unwrap_err();
    assert!(matches!(error.reason, ReadError::TooLong { .. }), "{error}");
    let error = grows(Some(5)).unwrap_err();
    assert!(matches!(error.reason, ReadError::TooLong { .. }), "{error}");
}

#[test]
fn s111_more_elements_than_the_input_could_hold_are_refused_at_once() {
    let result = update(&[2], |writer| {
        count(writer, 2_048, Some(4));
        writer.write_flag(false);
        writer.write_bits(0, 64);
    });
    assert!(matches!(result.unwrap_err().reason, ReadError::TooLong { len: 2_044, .. }));
}

#[test]
fn s62_s92_an_append_costs_the_new_element_and_its_place() {
    let mut pair = Pair::<Bag>::from(|| Bag { items: vec![(0, vec![]); 1_000], ..Bag::default() });
    let handle = 1 + 2 + 1;
    let element = 8 + 4;
    let count = 2 * (1_001_u32 + 8).ilog2() as usize + 1 - 3;
    let bits = pair.update(|bag| bag.items.push((1, vec![])));
    assert_eq!(pair.replica, pair.live);
    assert!(bits <= handle + count + (1 + 10) + 1 + element, "{bits}");
}

#[test]
fn s111_s112_new_elements_are_whole_and_surplus_ones_are_dropped() {
    let mut pair = bag();
    pair.update(|bag| bag.items.truncate(1));
    assert_eq!(pair.replica, pair.live);
    pair.update(|bag| bag.items.extend([(3, vec![1, 2, 3]), (0, vec![])]));
    assert_eq!(pair.replica, pair.live);
    pair.update(|bag| (bag.items, bag.hat) = (Vec::new(), Some(1)));
    assert_eq!(pair.replica, pair.live);
}

#[test]
fn s69_an_update_of_a_new_object_is_validated_against_the_value_it_begins_with() {
    #[derive(Replicated)]
    #[replicated(all)]
    struct Deck {
        cards: Vec<u8>,
    }
    impl Default for Deck {
        fn default() -> Self {
            Self { cards: vec![1, 2, 3] }
        }
    }
    let mut pair = Pair::<Deck>::new();
    let changes = pair.edit(|deck| deck.cards[1] = 9);
    let mut writer = BitWriter::new();
    pair.class.write_values(&pair.shadow, &changes, &mut writer).unwrap();
    let validate = |object: Option<&Deck>| {
        let mut references = ReferenceMap::new(&NoObjects);
        pair.class.validate(
            object,
            changes.handles(),
            &mut writer.clone().as_slice().reader(),
            &mut references,
            &mut repl::tools::Checked::new(),
        )
    };
    assert_eq!(validate(None), Ok(()));
    assert!(validate(Some(&Deck { cards: Vec::new() })).is_err());
}

#[test]
fn errors_name_the_class_the_property_and_the_bit() {
    let error = update(&[2], |writer| {
        count(writer, 4, None);
        writer.write_bits(0b11, 2);
        writer.write_below(5, 8);
        writer.write_exp_golomb(0, 0);
        writer.write_flag(false);
        writer.write_exp_golomb(2_049, 3);
    });
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with("Bag.items[2].1: a length of 2049 is over the limit of 2048 (bit "),
        "{message}"
    );
}

fn world_class() -> &'static Class<World> {
    static CLASS: std::sync::OnceLock<Class<World>> = std::sync::OnceLock::new();
    CLASS.get_or_init(Class::new)
}

proptest! {
    #[test]
    fn reading_gives_what_was_written(all in changes(40)) {
        let mut world = World::default();
        all.iter().for_each(|&change| world.change(change));
        let (again, _) = through_bits(&world);
        prop_assert!(world.identical(&world.clone()));
        prop_assert_eq!(written(&again), written(&world));
        prop_assert_eq!(again.limbs, world.limbs);
        prop_assert_eq!(again.mood, world.mood);
    }

    #[test]
    fn sets_of_handles_arrive(count in 1..200_u32, members in prop::collection::btree_set(1..200_u32, 0..40), empty: bool) {
        let set = crate::pair::handles(members.iter().copied().filter(|&member| member <= count));
        prop_assume!(empty || !set.is_empty());
        let mut writer = BitWriter::new();
        write_handles(&set, count, empty, &mut writer);
        let mut reader = writer.as_slice().reader();
        prop_assert_eq!(read_handles(count, empty, &mut reader), Ok(set));
        prop_assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn s107_handles_read_from_any_bytes_exist(count in 1..200_u32, bytes: [u8; 32], empty: bool) {
        if let Ok(set) = read_handles(count, empty, &mut BitReader::new(&bytes)) {
            prop_assert!(set.is_subset(&HandleSet::up_to(count)));
            prop_assert!(empty || !set.is_empty());
        }
    }

    #[test]
    fn r20_any_bytes_are_an_update_or_an_error_and_what_validates_is_applied(
        before in changes(20),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut replica = World::default();
        before.iter().for_each(|&change| replica.change(change));
        // `receive` asserts that an update that validates can be applied, and that applying reads the same
        // bits.
        if receive(world_class(), &mut replica, BitReader::new(&bytes)).is_ok() {
            replica.write(&mut BitWriter::new()).unwrap();
        }
        let _ = read::<World>(&bytes);
    }

    #[test]
    fn r20_a_flipped_bit_gives_an_update_or_an_error(
        before in changes(20),
        update in changes(10),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
    ) {
        let mut pair = Pair::<World>::new();
        pair.update(|world| before.iter().for_each(|&change| world.change(change)));
        let list = pair.edit(|world| update.iter().for_each(|&change| world.change(change)));
        let mut bits = pair.encode(&list);
        if bits.bit_len() > 0 {
            let len = bits.bit_len();
            let mut bytes = bits.finish().to_vec();
            flips.iter().map(|flip| flip.index(len)).for_each(|bit| bytes[bit / 8] ^= 1 << (bit % 8));
            let mutated = BitSlice::new(&bytes, 0, len).unwrap();
            let unchanged = pair.replica.clone();
            if receive(&pair.class, &mut pair.replica, mutated.reader()).is_err() {
                prop_assert_eq!(pair.replica, unchanged);
            }
        }
    }
}
