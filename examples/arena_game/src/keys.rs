//! The keys of a human who plays.
//!
//! *Invariant:* keys only choose inputs and calls that a bot could also choose.

use crate::plane::Vec2;

/// Which keys are down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub left: bool,
    pub right: bool,
    pub up: bool,
    pub down: bool,
    pub fire: bool,
}

impl Keys {
    /// Returns the direction in which the keys point, of length one. `None` if they point nowhere.
    pub fn direction(self) -> Option<Vec2> {
        let axis = |less: bool, more: bool| f32::from(i8::from(more) - i8::from(less));
        let (x, y) = (axis(self.left, self.right), axis(self.down, self.up));
        let length = x.hypot(y);
        (length > 0.0).then(|| [x / length, y / length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_keys_cancel_and_two_keys_are_no_faster_than_one() {
        let keys = Keys { left: true, right: true, ..Keys::default() };
        assert_eq!(keys.direction(), None);
        let [x, y] = Keys { up: true, ..keys }.direction().expect("up");
        assert_eq!([x, y], [0.0, 1.0]);
        let [x, y] = Keys { up: true, left: true, ..Keys::default() }.direction().expect("up and left");
        assert!(x < 0.0 && y > 0.0 && (x.hypot(y) - 1.0).abs() < 1e-6);
    }
}
