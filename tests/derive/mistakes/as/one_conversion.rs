use repl::prelude::*;

mod physics {
    #[derive(Clone, Default)]
    pub struct Vec3 {
        pub x: f32,
    }
}

#[derive(NetSerialize, Clone)]
struct Place(f32);

impl From<physics::Vec3> for Place {
    fn from(position: physics::Vec3) -> Self {
        Self(position.x)
    }
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated(as = Place)]
    positions: Vec<physics::Vec3>,
}

fn main() {}
