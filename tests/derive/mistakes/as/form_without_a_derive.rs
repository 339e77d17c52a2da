use repl::Replicated;

mod physics {
    #[derive(Clone, Default)]
    pub struct Vec3 {
        pub x: f32,
    }
}

#[derive(Clone)]
struct Place(f32);

impl From<physics::Vec3> for Place {
    fn from(position: physics::Vec3) -> Self {
        Self(position.x)
    }
}

impl From<Place> for physics::Vec3 {
    fn from(place: Place) -> Self {
        Self { x: place.0 }
    }
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated(as = Place)]
    position: physics::Vec3,
}

fn main() {}
