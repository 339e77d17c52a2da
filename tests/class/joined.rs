//! Leaves (single values) that follow one another both in memory and on the wire are *joined*: compared,
//! written and read together. Each test compares the result with the result for the leaves one by one (S90).
//!
//! *Invariant:* the bits of numbers and flags are also computed here, without the library. All other
//! properties are compared with lists of one handle.

use proptest::prelude::*;
use repl::tools::{BitSlice, Changelist, Checked, Class, DecodeError, HandleSet, Scratch};
use repl::{BitReader, BitWriter, NetSerialize, NoObjects, ReferenceMap, Replicated};
use repl_core::WriteRecipe;

#[derive(Clone, Copy, Debug, Default, PartialEq, NetSerialize)]
struct Pair(u8, u8);

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Nested {
    one: u16,
    other: bool,
    far: [u16; 3],
}

/// An object with leaves (single values) of all widths. Some of them are written together with their
/// neighbours, some are not.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Mixed {
    wide: [u64; 3],
    numbers: [u32; 5],
    signed: i32,
    short: [u16; 5],
    bytes: [u8; 11],
    flags: [[bool; 14]; 5],
    #[replicated(skip)]
    gap: u8,
    small: i8,
    #[replicated(range = 3..=9)]
    ranged: u8,
    after: [u8; 2],
    float: f32,
    place: [f64; 2],
    name: String,
    nested: Nested,
    pair: Pair,
    letter: char,
    list: Vec<Nested>,
}

fn nested() -> impl Strategy<Value = Nested> {
    (any::<u16>(), any::<bool>(), any::<[u16; 3]>()).prop_map(|(one, other, far)| Nested { one, other, far })
}

fn mixed() -> impl Strategy<Value = Mixed> {
    let numbers = (any::<[u64; 3]>(), any::<[u32; 5]>(), any::<i32>(), any::<[u16; 5]>(), any::<[u8; 11]>());
    let flags = (any::<[[bool; 14]; 5]>(), any::<i8>(), 3..=9_u8, any::<[u8; 2]>());
    let floats = (any::<u32>(), any::<[u64; 2]>(), "[a-zé]{0,9}", any::<char>());
    let rest = (nested(), any::<(u8, u8)>(), prop::collection::vec(nested(), 0..3));
    (numbers, flags, floats, rest).prop_map(|(numbers, flags, floats, (nested, pair, list))| Mixed {
        wide: numbers.0,
        numbers: numbers.1,
        signed: numbers.2,
        short: numbers.3,
        bytes: numbers.4,
        flags: flags.0,
        gap: 0,
        small: flags.1,
        ranged: flags.2,
        after: flags.3,
        // A NaN would not equal itself.
        float: f32::from_bits(floats.0 & 0x3fff_ffff),
        place: floats.1.map(|bits| f64::from_bits(bits & 0x3fff_ffff_ffff_ffff)),
        name: floats.2,
        letter: floats.3,
        nested,
        pair: Pair(pair.0, pair.1),
        list,
    })
}

/// Returns the handles whose bits are set in `seed`, in stretches of different lengths.
fn chosen(class: &Class<Mixed>, seed: u128) -> HandleSet {
    (1..=class.program().handles()).filter(|handle| seed >> (handle % 128) & 1 == 1).collect()
}

fn list_of(class: &Class<Mixed>, handles: &HandleSet) -> Changelist {
    let mut list = Changelist::new();
    class.insert_whole(handles, &mut list);
    list
}

/// Returns, for each handle, the number on the wire and its width in bits, or `None` if the property is no
/// number and no flag.
fn bits_by_hand(object: &Mixed) -> Vec<Option<(u64, u32)>> {
    let flags = object.flags.iter().flatten().map(|&flag| (flag.into(), 1));
    let nested = &object.nested;
    let plain: [Vec<(u64, u32)>; 3] = [
        (object.wide.iter().map(|&value| (value, 64)))
            .chain(object.numbers.map(|value| (value.into(), 32)))
            // The highest bit of a signed number is inverted.
            .chain([((object.signed as u32 ^ 0x8000_0000).into(), 32)])
            .chain(object.short.map(|value| (value.into(), 16)))
            .chain(object.bytes.map(|value| (value.into(), 8)))
            .chain(flags)
            .chain([((object.small as u8 ^ 0x80).into(), 8)])
            .collect(),
        (object.after.iter().map(|&value| (value.into(), 8)))
            .chain([(object.float.to_bits().into(), 32)])
            .chain(object.place.map(|value| (value.to_bits(), 64)))
            .collect(),
        [(nested.one.into(), 16), (nested.other.into(), 1)]
            .into_iter()
            .chain(nested.far.map(|value| (value.into(), 16)))
            .collect(),
    ];
    let [first, second, third] = plain.map(|values| values.into_iter().map(Some));
    // `None` stands for `ranged`, for `name`, and for the last three: `pair`, `letter` and `list`.
    first.chain([None]).chain(second).chain([None]).chain(third).chain([None; 3]).collect()
}

fn one_by_one(handles: &HandleSet) -> impl Iterator<Item = HandleSet> {
    handles.iter().map(|handle| HandleSet::from_iter([handle]))
}

/// Writes the last of `objects` by the recipe (the list of reads and writes) of its handles. Before that, the
/// other objects are written by recipes of other handles.
fn written_by_recipe(class: &Class<Mixed>, objects: &[Mixed], handles: &HandleSet) -> BitWriter {
    let (rows, mut recipe, mut writer) = (class.rows(objects), WriteRecipe::default(), BitWriter::new());
    let all = HandleSet::up_to(class.program().handles());
    for (row, handles) in (0..).zip(objects.iter().map(|_| &all).skip(1).chain([handles])) {
        writer.clear();
        rows.make_recipe(handles, &mut recipe);
        rows.write_values(row, &list_of(class, handles), &recipe, &mut writer).unwrap();
    }
    writer
}

fn decode(
    class: &Class<Mixed>,
    object: &mut Mixed,
    handles: &HandleSet,
    reader: &mut BitReader<'_>,
) -> Result<(), DecodeError> {
    let (mut checked, mut references) = (Checked::new(), ReferenceMap::new(&NoObjects));
    let mut again = reader.clone();
    class.validate(Some(object), handles, reader, &mut references, &mut checked)?;
    class.apply(object, handles, checked.take(&mut again), &mut references, &mut ());
    assert_eq!(again.position(), reader.position());
    Ok(())
}

proptest! {
    #[test]
    fn s90_joined_leaves_have_the_bits_of_leaves_one_by_one(
        object in mixed(),
        other in mixed(),
        seed in prop_oneof![Just(u128::MAX), any::<u128>(), (any::<u128>(), any::<u128>()).prop_map(|(a, b)| a | b)],
        cut in any::<prop::sample::Index>(),
    ) {
        let class = Class::<Mixed>::new();
        let handles = chosen(&class, seed);
        let (mut joined, mut naive) = (BitWriter::new(), BitWriter::new());
        class.write_values(&object, &list_of(&class, &handles), &mut joined).unwrap();
        let by_hand = bits_by_hand(&object);
        prop_assert_eq!(by_hand.len(), class.program().handles() as usize);
        for handle in handles.iter() {
            match by_hand[handle as usize - 1] {
                Some((value, bits)) => naive.write_bits(value, bits),
                None => class.write_values(&object, &list_of(&class, &[handle].into_iter().collect()), &mut naive).unwrap(),
            }
        }
        prop_assert_eq!(joined.as_slice(), naive.as_slice());
        prop_assert_eq!(written_by_recipe(&class, &[other, object.clone()], &handles), joined.clone());

        let (mut whole, mut parts) = (Mixed::default(), Mixed::default());
        let mut reader = joined.as_slice().reader();
        decode(&class, &mut whole, &handles, &mut reader).unwrap();
        prop_assert_eq!(reader.remaining(), 0);
        let mut reader = joined.as_slice().reader();
        for handle in one_by_one(&handles) {
            decode(&class, &mut parts, &handle, &mut reader).unwrap();
        }
        prop_assert_eq!(&whole, &parts);
        let mut expected = Mixed::default();
        class.copy(&object, &mut expected, &handles);
        prop_assert_eq!(&whole, &expected);

        // If an update ends too early, the error names the leaf in which it ends.
        let bits = cut.index(joined.bit_len() + 1);
        let short = joined.slice(0..bits).unwrap();
        let refused = decode(&class, &mut Mixed::default(), &handles, &mut short.reader());
        let (mut reader, mut parts) = (short.reader(), Mixed::default());
        let naive = one_by_one(&handles).try_for_each(|handle| decode(&class, &mut parts, &handle, &mut reader));
        prop_assert_eq!(refused, naive);
    }

    #[test]
    fn s90_updates_with_recipes_are_read_like_all_others(
        objects in prop::collection::vec(mixed(), 1..4),
        seed in any::<u128>(),
        bytes in prop::collection::vec(any::<u8>(), 600),
        start in 0..9_usize,
        cut in any::<prop::sample::Index>(),
    ) {
        let class = Class::<Mixed>::new();
        let handles = chosen(&class, seed);
        let (simple, others): (Vec<HandleSet>, Vec<HandleSet>) =
            one_by_one(&handles).partition(|handle| class.read_recipe(handle).is_some());
        let simple: HandleSet = simple.iter().flat_map(HandleSet::iter).collect();
        prop_assert!(others.is_empty() || class.read_recipe(&handles).is_none());
        // The number of reads of a recipe is limited.
        let Some(recipe) = class.read_recipe(&simple) else {
            prop_assert!(simple.len() > 64);
            return Ok(());
        };
        let mut written = BitWriter::new();
        written.write_bits(0, start as u32);
        for object in &objects {
            class.write_values(object, &list_of(&class, &simple), &mut written).unwrap();
        }
        let whole = written.slice(start..written.bit_len()).unwrap();
        prop_assert!(whole.len() >= recipe.least_bits() * objects.len());

        let own = whole.slice(0..cut.index(whole.len() + 1)).unwrap();
        let count = objects.len() as u32;
        for values in [whole, own, BitSlice::new(&bytes, start, bytes.len() * 8 - start).unwrap()] {
            let (mut fast, mut slow) = (values.reader(), values.reader());
            let mut expected = vec![Mixed::default(); objects.len()];
            let is_valid = expected.iter_mut().all(|object| decode(&class, object, &simple, &mut slow).is_ok());
            prop_assert_eq!(recipe.check(count, &mut fast), is_valid);
            if is_valid {
                prop_assert_eq!(fast.position(), slow.position());
                let mut read = vec![Mixed::default(); objects.len()];
                let end = read.iter_mut().fold(0, |at, object| class.apply_by(object, &recipe, values, at));
                prop_assert_eq!(end, slow.position());
                let same = |(one, other): (&Mixed, &Mixed)| {
                    let [mut one, mut other] = [one, other].map(|object| {
                        let mut writer = BitWriter::new();
                        class.write_values(object, &list_of(&class, &simple), &mut writer).unwrap();
                        writer
                    });
                    one.as_slice() == other.as_slice()
                };
                prop_assert!(read.iter().zip(&expected).all(same));
            }
            if values == whole {
                prop_assert_eq!(slow.remaining(), 0);
                let mut copied = vec![Mixed::default(); objects.len()];
                copied.iter_mut().zip(&objects).for_each(|(to, from)| class.copy(from, to, &simple));
                prop_assert_eq!(&expected, &copied);
            }
            prop_assert!(is_valid || values != whole);
        }
    }

    #[test]
    fn s60_joined_leaves_are_listed_one_by_one(object in mixed(), other in mixed(), seed in any::<u128>()) {
        let class = Class::<Mixed>::new();
        // The object differs only in the chosen properties.
        let (handles, mut live) = (chosen(&class, seed), object.clone());
        class.copy(&other, &mut live, &handles);
        let compare = |shadow: &mut Mixed, scope: &HandleSet| {
            let (mut changes, mut refusals) = (Changelist::new(), Vec::new());
            class.compare(&live, shadow, scope, &mut changes, &mut refusals, &mut Scratch::default());
            assert_eq!(refusals, []);
            changes
        };
        let (mut whole, mut parts) = (object.clone(), object.clone());
        let all = HandleSet::up_to(class.program().handles());
        let changes = compare(&mut whole, &all);
        let mut merged = Changelist::new();
        one_by_one(&all).for_each(|handle| merged.merge(&compare(&mut parts, &handle)));
        prop_assert_eq!(changes, merged);
        prop_assert_eq!(&whole, &live);
        prop_assert_eq!(&parts, &live);
    }
}
