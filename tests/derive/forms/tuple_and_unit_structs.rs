//! The fields of tuple structs are named by number. A struct without fields is an object without properties.

use repl::Replicated;

use crate::round_trip;

#[derive(Replicated, Default)]
struct Score(#[replicated] u32, f32, #[replicated(notify = on_streak)] u8);

impl Score {
    fn on_streak(&mut self, old: &u8) {
        self.1 = f32::from(*old);
    }
}

#[derive(Replicated, Default)]
struct Marker;

#[derive(Replicated, Default)]
struct Nothing {}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Both(Score2, (u8, bool));

#[derive(Replicated, Default)]
#[replicated(all)]
struct Score2(u32);

#[test]
fn these_forms_are_accepted() {
    let mut score = round_trip(&Score(7, 1.5, 2));
    assert_eq!((score.0, score.1, score.2), (7, 0.0, 2));
    Replicated::notify(&mut score, 1, &Score(0, 0.0, 9));
    assert!(score.1 > 8.0);
    let names: Vec<_> = ["0", "2"].iter().map(|name| Score::LAYOUT.property(name).index()).collect();
    assert_eq!(names, [0, 1]);
    round_trip(&Marker);
    round_trip(&Nothing {});
    assert_eq!((Marker::LAYOUT.properties(), Nothing::LAYOUT.properties()), (0, 0));
    let both = round_trip(&Both(Score2(4), (5, true)));
    assert_eq!((both.0.0, both.1), (4, (5, true)));
    Marker::program();
}
