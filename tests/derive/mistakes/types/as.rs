mod bits_of_a_float {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(as = [f32; 3], bits = 5)]
        position: (f32, f32, f32),
    }
}

mod form_without_a_derive {
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
}

mod no_conversion {
    use repl::Replicated;

    mod physics {
        #[derive(Clone, Default)]
        pub struct Vec3 {
            pub x: f32,
            pub y: f32,
            pub z: f32,
        }
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(as = [f32; 3], quantize(step = 0.01, range = -100.0..=100.0))]
        position: physics::Vec3,
    }
}

mod one_conversion {
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
}

fn main() {}
