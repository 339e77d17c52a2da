//! References to objects that arrive later (S116 to S119).

use std::num::NonZeroU32;

use repl::tools::{BitSlice, Class, HandleSet, Objects, Observer};
use repl::{BitWriter, Guid, NetSerialize, ObjectRef, ReferenceMap, Replicated};

/// The objects that exist on the client.
struct Present(Vec<Guid>);

impl Objects for Present {
    fn contains(&self, guid: Guid) -> bool {
        self.0.contains(&guid)
    }
}

fn guid(slot: u32) -> Guid {
    Guid::new(slot, NonZeroU32::MIN)
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Aim {
    at: ObjectRef<Squad>,
    strength: u8,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Squad {
    leader: ObjectRef<Self>,
    members: Vec<ObjectRef<Self>>,
    aim: Aim,
}

/// The record of a leaf (single value) that refers to objects: the handles that lead to the leaf, the
/// objects, and the bits of the leaf.
type Mention = (Vec<u32>, Vec<Guid>, Option<Vec<bool>>);

/// Records each leaf that the library reports while it applies an update.
#[derive(Default)]
struct Told(Vec<Mention>);

impl Observer for Told {
    fn plain(&mut self, path: &[u32]) {
        self.0.push((path.to_vec(), Vec::new(), None));
    }

    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>) {
        let mut reader = bits.reader();
        let bits = std::iter::from_fn(|| reader.read_flag().ok()).collect();
        self.0.push((path.to_vec(), guids.collect(), Some(bits)));
    }

    fn cut(&mut self, path: &[u32], steps: std::ops::Range<u32>) {
        let is_cut = |known: &[u32]| {
            known.strip_prefix(path).and_then(|rest| rest.first()).is_some_and(|step| steps.contains(step))
        };
        self.0.retain(|(known, ..)| !is_cut(known));
    }
}

/// Applies one change of a squad to its replica, while only the objects `present` exist. Returns the records
/// of the leaves with references in the update.
fn receive_squad(
    replica: &mut Squad,
    shadow: &mut Squad,
    present: &[Guid],
    edit: impl FnOnce(&mut Squad),
) -> Vec<Mention> {
    let class = Class::<Squad>::new();
    let mut live = shadow.clone();
    edit(&mut live);
    let mut changes = repl::tools::Changelist::new();
    let all = HandleSet::up_to(3);
    class.compare(&live, shadow, &all, &mut changes, &mut Vec::new(), &mut repl::tools::Scratch::default());
    let mut writer = BitWriter::new();
    class.write_values(shadow, &changes, &mut writer).unwrap();
    let objects = Present(present.to_vec());
    let mut references = ReferenceMap::new(&objects);
    let mut reader = writer.as_slice().reader();
    let (checked, ahead) = (&mut repl::tools::Checked::new(), &mut reader.clone());
    class.validate(Some(replica), changes.handles(), ahead, &mut references, checked).unwrap();
    let mut told = Told::default();
    class.apply(replica, changes.handles(), checked.take(&mut reader), &mut references, &mut told);
    told.0
}

/// Reads the leaf of a record again, while only the objects `present` exist.
fn read_again(replica: &mut Squad, (path, _, bits): &Mention, present: &[Guid]) {
    let mut writer = BitWriter::new();
    bits.iter().flatten().for_each(|&bit| writer.write_flag(bit));
    let objects = Present(present.to_vec());
    let mut references = ReferenceMap::new(&objects);
    Class::<Squad>::new().read_again(replica, path, writer.as_slice(), &mut references);
    assert!(!references.any_mentioned());
}

#[test]
fn s116_s117_s118_a_reference_is_null_until_its_object_comes_and_then_is_read_again_from_its_bits() {
    let (mut replica, mut shadow) = (Squad::default(), Squad::default());
    let told = receive_squad(&mut replica, &mut shadow, &[], |squad| squad.leader = ObjectRef::new(guid(5)));
    assert!(replica.leader.is_null());
    let [mention] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&mention.0[..], &mention.1[..]), (&[1][..], &[guid(5)][..]));
    read_again(&mut replica, mention, &[guid(5)]);
    assert_eq!(replica.leader.guid(), Some(guid(5)));
    read_again(&mut replica, mention, &[]);
    assert!(replica.leader.is_null(), "and is null again when its object goes (S120)");
}

#[test]
fn s117_mapped_references_are_reported_and_values_without_references_clear_the_record() {
    let (mut replica, mut shadow) = (Squad::default(), Squad::default());
    let told =
        receive_squad(&mut replica, &mut shadow, &[guid(5)], |squad| squad.leader = ObjectRef::new(guid(5)));
    assert_eq!(replica, shadow);
    assert_eq!(told[0].1, [guid(5)]);
    let told = receive_squad(&mut replica, &mut shadow, &[], |squad| squad.leader = ObjectRef::NULL);
    assert_eq!(told, [(vec![1], vec![], None)]);
}

#[test]
fn s117_s119_references_in_arrays_are_reported_by_path_and_dropped_with_it() {
    let (mut replica, mut shadow) = (Squad::default(), Squad::default());
    let told = receive_squad(&mut replica, &mut shadow, &[], |squad| {
        squad.members = vec![ObjectRef::NULL, ObjectRef::new(guid(6)), ObjectRef::new(guid(7))];
    });
    let places: Vec<_> = told.iter().map(|(path, guids, _)| (&path[..], guids.len())).collect();
    assert_eq!(places, [(&[2, 0][..], 0), (&[2, 1][..], 1), (&[2, 2][..], 1)]);
    read_again(&mut replica, &told[1], &[guid(6)]);
    assert_eq!(replica.members[1].guid(), Some(guid(6)));

    receive_squad(&mut replica, &mut shadow, &[guid(6)], |squad| squad.members.truncate(2));
    read_again(&mut replica, &told[2], &[guid(6), guid(7)]);
    assert_eq!(replica.members.len(), 2);
    assert_eq!(replica.members[1].guid(), Some(guid(6)));
}

#[test]
fn s118_s122_a_value_with_references_is_read_again_as_a_whole() {
    let (mut replica, mut shadow) = (Squad::default(), Squad::default());
    let told = receive_squad(&mut replica, &mut shadow, &[], |squad| {
        squad.aim = Aim { at: ObjectRef::new(guid(8)), strength: 3 };
    });
    assert_eq!(replica.aim, Aim { at: ObjectRef::NULL, strength: 3 });
    replica.aim.strength = 9;
    read_again(&mut replica, &told[0], &[guid(8)]);
    assert_eq!(replica.aim, shadow.aim);
}
