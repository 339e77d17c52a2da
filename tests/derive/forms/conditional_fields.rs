//! If `cfg` removes a field or an attribute, the macros ignore it.

use repl::{NetSerialize, Replicated};

use crate::round_trip;

#[derive(Replicated, Default)]
struct Player {
    #[cfg(any())]
    #[replicated]
    never: std::time::Instant,
    #[cfg(not(any()))]
    #[replicated]
    always: u8,
    #[cfg_attr(all(), replicated(bits = 4))]
    small: u8,
    #[cfg_attr(any(), replicated)]
    local: u8,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
enum Event {
    #[cfg(any())]
    Never(std::time::Instant),
    One {
        #[cfg(any())]
        never: std::time::Instant,
        always: u8,
    },
    Two,
}

#[test]
fn these_forms_are_accepted() {
    let read = round_trip(&Player { always: 1, small: 15, local: 3 });
    assert_eq!((read.always, read.small, read.local), (1, 15, 0));
    assert_eq!(Player::LAYOUT.properties(), 2);
    assert_eq!(round_trip(&Event::One { always: 4 }), Event::One { always: 4 });
    assert_eq!(round_trip(&Event::Two), Event::Two);
}
