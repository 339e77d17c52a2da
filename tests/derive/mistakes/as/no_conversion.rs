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

fn main() {}
