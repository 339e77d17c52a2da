//! Tables of code lengths: short codes for the widths that numbers of recorded matches often have.
//!
//! The tables are constants of the format, and both sides must use the same. They were measured over five
//! matches. A value that does not occur in these matches costs only a few bits more.
//!
//! *Invariant:* each kind of number has one table, and no table changes at run time. So any packet can be
//! read without the packets before it.

use super::width::Widths;

/// The tables for the motion of a car along its own axes. There are three sets, for different tilts.
pub(super) struct Motion {
    /// The height above the height of a car at rest, in hundredths.
    pub(super) height: Widths,
    pub(super) forward: Widths,
    pub(super) side: Widths,
    pub(super) up: Widths,
    pub(super) spin_forward: Widths,
    pub(super) spin_side: Widths,
    pub(super) spin_up: Widths,
}

/// The x coordinate of a ball, in hundredths.
pub(super) static BALL_X: Widths = Widths::new([
    6, 13, 13, 13, 13, 12, 12, 12, 10, 10, 9, 9, 7, 6, 6, 4, 3, 2, 2, 2, 13, 13, 13, 13, 13, 13,
]);

/// The y coordinate of a ball.
pub(super) static BALL_Y: Widths = Widths::new([
    7, 14, 14, 14, 14, 14, 14, 12, 14, 10, 11, 10, 8, 7, 7, 5, 4, 3, 2, 1, 11, 14, 14, 14, 14, 14,
]);

/// The height of a ball.
pub(super) static BALL_Z: Widths =
    Widths::new([9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 7, 4, 3, 2, 2, 2, 9, 8, 8, 8, 8, 8, 8]);

/// The horizontal components of a ball's velocity.
pub(super) static BALL_V: Widths =
    Widths::new([5, 13, 11, 13, 13, 11, 11, 10, 9, 9, 8, 8, 6, 6, 5, 3, 2, 2, 2, 6, 13, 13, 13, 12, 12, 12]);

/// The vertical component of a ball's velocity.
pub(super) static BALL_VZ: Widths =
    Widths::new([6, 13, 13, 13, 12, 11, 10, 10, 8, 7, 6, 6, 5, 4, 4, 2, 2, 2, 5, 13, 13, 13, 13, 13, 13, 13]);

/// The components of a ball's spin.
pub(super) static BALL_W: Widths = Widths::new([
    3, 13, 10, 13, 13, 11, 9, 10, 9, 7, 6, 5, 4, 3, 3, 2, 2, 13, 13, 13, 13, 13, 13, 13, 13, 13,
]);

/// The x coordinate of a car.
pub(super) static CAR_X: Widths =
    Widths::new([8, 12, 13, 13, 12, 11, 11, 11, 10, 9, 9, 8, 7, 7, 5, 4, 3, 2, 2, 2, 13, 13, 13, 13, 13, 13]);

/// The y coordinate of a car.
pub(super) static CAR_Y: Widths = Widths::new([
    13, 13, 13, 13, 13, 13, 13, 12, 12, 10, 10, 9, 9, 8, 6, 5, 4, 3, 2, 1, 8, 13, 13, 13, 13, 13,
]);

/// The third component of an upright car's rotation: its heading.
pub(super) static CAR_YAW: Widths = Widths::new([
    13, 13, 13, 13, 13, 12, 12, 10, 10, 9, 8, 8, 6, 5, 4, 3, 2, 1, 9, 13, 13, 13, 13, 13, 13, 13,
]);

/// The roll of an upright car, in the car's own frame.
pub(super) static CAR_ROLL: Widths =
    Widths::new([5, 4, 4, 3, 3, 3, 6, 6, 7, 6, 6, 6, 5, 5, 4, 4, 4, 3, 10, 10, 10, 10, 10, 10, 10, 10]);

/// The pitch of an upright car, as the difference from the pitch of a car at rest.
pub(super) static CAR_PITCH: Widths =
    Widths::new([5, 4, 4, 3, 4, 6, 6, 7, 6, 6, 3, 6, 5, 5, 4, 4, 3, 3, 9, 11, 11, 10, 10, 10, 10, 10]);

/// The components of the rotation of a car that is not upright.
pub(super) static CAR_TUMBLING: Widths = Widths::new([
    14, 14, 14, 13, 13, 13, 12, 12, 10, 10, 8, 7, 6, 5, 4, 3, 2, 1, 11, 14, 14, 14, 14, 14, 14, 14,
]);

/// A car level on its wheels.
pub(super) static SETTLED: Motion = Motion {
    height: Widths::new([
        1, 3, 4, 7, 7, 8, 7, 8, 2, 8, 8, 7, 7, 9, 9, 9, 11, 12, 13, 13, 13, 13, 13, 13, 12, 12,
    ]),
    forward: Widths::new([
        6, 11, 10, 10, 9, 10, 11, 10, 10, 10, 10, 8, 7, 7, 6, 4, 3, 2, 1, 12, 12, 12, 12, 12, 12, 11,
    ]),
    side: Widths::new([6, 6, 6, 6, 7, 6, 6, 6, 5, 4, 4, 3, 3, 2, 3, 4, 5, 8, 10, 12, 12, 11, 11, 11, 11, 11]),
    up: Widths::new([
        3, 4, 3, 3, 3, 3, 6, 8, 8, 7, 2, 8, 10, 10, 11, 6, 7, 12, 11, 14, 14, 13, 13, 13, 13, 13,
    ]),
    spin_forward: Widths::new([
        3, 4, 3, 2, 3, 3, 3, 5, 6, 7, 9, 9, 9, 11, 12, 14, 14, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    ]),
    spin_side: Widths::new([
        2, 2, 2, 3, 5, 5, 6, 6, 7, 7, 8, 8, 8, 10, 11, 12, 11, 13, 13, 13, 13, 12, 12, 12, 12, 12,
    ]),
    spin_up: Widths::new([
        4, 8, 9, 7, 7, 7, 6, 6, 6, 5, 5, 5, 4, 4, 3, 1, 6, 13, 13, 12, 12, 12, 12, 12, 12, 12,
    ]),
};

/// A car that is nearly level: it brakes, turns or has just jumped.
pub(super) static LEANING: Motion = Motion {
    height: Widths::new([
        9, 7, 5, 2, 6, 6, 5, 4, 2, 2, 6, 6, 5, 7, 7, 8, 13, 11, 11, 13, 13, 13, 13, 13, 13, 13,
    ]),
    forward: Widths::new([
        5, 10, 11, 10, 12, 10, 12, 10, 9, 10, 9, 10, 8, 6, 5, 5, 3, 2, 1, 13, 13, 13, 13, 13, 13, 12,
    ]),
    side: Widths::new([5, 7, 5, 5, 6, 6, 6, 5, 5, 5, 4, 3, 3, 2, 3, 5, 6, 6, 8, 11, 11, 11, 11, 11, 11, 10]),
    up: Widths::new([7, 7, 6, 4, 4, 6, 4, 8, 7, 5, 1, 4, 5, 6, 6, 5, 4, 9, 12, 12, 12, 12, 12, 12, 12, 12]),
    spin_forward: Widths::new([
        3, 4, 3, 3, 3, 4, 4, 4, 5, 5, 4, 5, 5, 5, 6, 7, 11, 11, 11, 11, 10, 10, 10, 10, 10, 10,
    ]),
    spin_side: Widths::new([
        2, 3, 3, 3, 4, 5, 5, 6, 5, 5, 4, 5, 5, 5, 7, 8, 9, 13, 13, 12, 12, 12, 12, 12, 12, 12,
    ]),
    spin_up: Widths::new([
        3, 6, 8, 7, 6, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 2, 6, 12, 12, 11, 11, 11, 11, 11, 11, 11,
    ]),
};

/// A car in the air, on a wall, or after a collision.
pub(super) static LOOSE: Motion = Motion {
    height: Widths::new([
        13, 13, 12, 11, 11, 10, 10, 8, 7, 6, 6, 6, 5, 3, 3, 3, 2, 2, 5, 14, 14, 14, 14, 14, 14, 13,
    ]),
    forward: Widths::new([
        11, 13, 13, 13, 12, 13, 12, 11, 11, 10, 9, 9, 7, 6, 5, 4, 3, 2, 1, 14, 14, 14, 14, 14, 14, 13,
    ]),
    side: Widths::new([
        10, 12, 11, 11, 10, 9, 9, 8, 8, 7, 7, 5, 4, 4, 3, 3, 2, 2, 4, 14, 14, 13, 13, 13, 13, 13,
    ]),
    up: Widths::new([
        13, 14, 13, 13, 13, 11, 11, 10, 10, 8, 7, 3, 5, 4, 3, 2, 2, 3, 6, 14, 14, 14, 14, 14, 14, 14,
    ]),
    spin_forward: Widths::new([
        9, 9, 9, 8, 8, 6, 6, 6, 5, 5, 4, 4, 3, 3, 2, 3, 3, 13, 13, 12, 12, 12, 12, 12, 12, 12,
    ]),
    spin_side: Widths::new([
        12, 14, 12, 11, 11, 10, 10, 8, 7, 6, 5, 4, 3, 3, 2, 2, 3, 15, 15, 15, 15, 14, 14, 14, 14, 14,
    ]),
    spin_up: Widths::new([
        5, 9, 8, 7, 7, 7, 6, 6, 5, 4, 4, 4, 3, 3, 2, 3, 4, 13, 13, 12, 12, 12, 12, 12, 12, 12,
    ]),
};
