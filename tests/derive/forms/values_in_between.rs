//! Structs that derive `Interpolate`.

mod engine {
    pub mod replication {
        pub use repl::Interpolate;
    }
}

use repl::{Angle, Interpolate};

#[derive(Interpolate, Clone, Debug, PartialEq)]
struct Pose<T, const N: usize> {
    at: [T; N],
    heading: Angle,
    #[interpolate(step)]
    name: String,
}

#[derive(Interpolate, Debug, PartialEq)]
#[interpolate(crate = "engine::replication")]
struct Weight(f64, #[interpolate(step)] bool);

#[derive(Interpolate, Debug, PartialEq)]
struct Nothing;

#[test]
fn each_field_is_between_its_two_values() {
    let pose = |x: f32, degrees: f32, name: &str| Pose {
        at: [x, 2.0 * x],
        heading: Angle::from_degrees(degrees),
        name: name.into(),
    };
    let (before, next) = (pose(1.0, 350.0, "a"), pose(3.0, 10.0, "b"));
    let half = before.interpolate(&next, 0.5);
    assert_eq!((half.at, half.name.as_str()), ([2.0, 4.0], "a"));
    assert!(half.heading.degrees().abs() < 0.01, "the short way: {half:?}");
    assert_eq!(before.interpolate(&next, 1.0).name, "b");
    assert_eq!(before.interpolate_over(&next, 0.5, 3.0).at, [2.0, 4.0]);
    assert_eq!(Weight(0.0, false).interpolate(&Weight(8.0, true), 0.25), Weight(2.0, false));
    assert_eq!(Nothing.interpolate(&Nothing, 0.5), Nothing);
}
