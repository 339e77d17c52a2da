//! Fields that are sent as values of another type (`as = Form`), because their own types cannot have a
//! derive.

use std::collections::HashMap;

use crate::pair::Pair;
use repl::prelude::*;

/// The types of another crate.
mod physics {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(super) struct Vec3 {
        pub(super) x: f32,
        pub(super) y: f32,
        pub(super) z: f32,
    }

    impl From<[f32; 3]> for Vec3 {
        fn from([x, y, z]: [f32; 3]) -> Self {
            Self { x, y, z }
        }
    }

    impl From<Vec3> for [f32; 3] {
        fn from(Vec3 { x, y, z }: Vec3) -> Self {
            [x, y, z]
        }
    }

    #[derive(Clone, Debug, Default, PartialEq)]
    pub(super) struct Transform {
        pub(super) position: Vec3,
        pub(super) scale: f32,
        pub(super) cached: u64,
    }
}

use physics::{Transform, Vec3};

#[derive(NetSerialize, Clone)]
struct Pose {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0))]
    position: Vec3,
    #[replicated(quantize(step = 0.1, range = 0.0..=10.0))]
    scale: f32,
}

impl From<Transform> for Pose {
    fn from(Transform { position, scale, .. }: Transform) -> Self {
        Self { position, scale }
    }
}

impl From<Pose> for Transform {
    fn from(Pose { position, scale }: Pose) -> Self {
        Self { position, scale, cached: 0 }
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Crane {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0))]
    hook: Vec3,
    #[replicated(as = [f32; 3])]
    exact: Vec3,
    #[replicated(as = Pose)]
    arm: Transform,
    #[replicated(as = [f32; 3])]
    path: Vec<Option<Vec3>>,
    #[replicated(as = Pose)]
    parts: HashMap<u8, Transform>,
    #[replicated(as = Vec<u16>, max_len = 2)]
    levels: Levels,
}

/// A list of levels in a type that another crate could have.
#[derive(Clone, Debug, Default, PartialEq)]
struct Levels(std::collections::LinkedList<u16>);

impl From<Levels> for Vec<u16> {
    fn from(levels: Levels) -> Self {
        levels.0.into_iter().collect()
    }
}

impl From<Vec<u16>> for Levels {
    fn from(levels: Vec<u16>) -> Self {
        Self(levels.into_iter().collect())
    }
}

fn at(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

#[test]
fn values_arrive_as_the_other_type_sends_them() {
    let mut pair = Pair::<Crane>::new();
    pair.update(|live| {
        live.hook = at(1.2, -3.0, 63.9);
        live.exact = at(0.1, 0.2, 0.3);
        live.arm = Transform { position: at(2.1, 0.0, 0.0), scale: 1.04, cached: 7 };
        live.path = vec![None, Some(at(1.0, 2.0, 3.0))];
        live.parts.insert(3, Transform { scale: 2.0, ..Transform::default() });
        live.levels = vec![4, 5].into();
    });
    assert!(pair.refusals.is_empty());
    let Crane { hook, exact, arm, path, parts, levels } = &pair.replica;
    assert_eq!((*hook, *exact), (at(1.0, -3.0, 64.0), pair.live.exact));
    assert_eq!((arm.position, arm.scale, arm.cached), (at(2.0, 0.0, 0.0), 1.0, 0));
    assert_eq!((path, levels), (&pair.live.path, &pair.live.levels));
    assert_eq!(parts[&3].scale, 2.0);
}

#[test]
fn a_value_with_the_same_bits_is_the_same() {
    let mut pair = Pair::<Crane>::new();
    pair.update(|live| live.hook = at(1.2, 0.0, 0.0));
    assert!(pair.edit(|live| live.hook.x = 1.1).is_empty());
    assert!(pair.edit(|live| live.arm.cached = 9).is_empty());
    assert!(!pair.edit(|live| live.hook.x = 1.3).is_empty());
}

#[test]
fn a_value_that_the_other_type_cannot_send_is_refused() {
    let mut pair = Pair::<Crane>::new();
    pair.edit(|live| {
        live.hook.x = 65.0;
        live.levels = vec![1, 2, 3].into();
    });
    assert_eq!(pair.refusals.len(), 2);
}

#[test]
fn tables_show_the_type_that_is_sent() {
    insta::assert_snapshot!(Crane::LAYOUT);
}

#[derive(Replicated, Default)]
#[replicated(name = "Hook")]
struct Coarse {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0))]
    place: Vec3,
}

#[derive(Replicated, Default)]
#[replicated(name = "Hook")]
struct Fine {
    #[replicated(as = [f32; 3], quantize(step = 0.25, range = -64.0..=64.0))]
    place: Vec3,
}

#[derive(Replicated, Default)]
#[replicated(name = "Hook")]
struct OtherType {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0))]
    place: [f32; 3],
}

#[test]
fn the_checksum_covers_the_form_and_not_the_type_of_the_field() {
    assert_ne!(Coarse::LAYOUT.checksum(), Fine::LAYOUT.checksum());
    assert_eq!(Coarse::LAYOUT.checksum(), OtherType::LAYOUT.checksum());
}
