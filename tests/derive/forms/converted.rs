use repl::prelude::*;
use std::collections::HashMap;

/// Types of another crate.
mod physics {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Vec3 {
        pub x: f32,
        pub y: f32,
        pub z: f32,
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
    pub struct Transform {
        pub position: Vec3,
        pub rotation: [f32; 4],
    }
}

#[derive(NetSerialize, Clone)]
struct Pose {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0))]
    position: physics::Vec3,
    #[replicated(quantize(smallest_three = 10))]
    rotation: [f32; 4],
}

impl From<physics::Transform> for Pose {
    fn from(physics::Transform { position, rotation }: physics::Transform) -> Self {
        Self { position, rotation }
    }
}

impl From<Pose> for physics::Transform {
    fn from(Pose { position, rotation }: Pose) -> Self {
        Self { position, rotation }
    }
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated(as = [f32; 3], quantize(step = 0.5, range = -64.0..=64.0, exact), notify = on_position)]
    position: physics::Vec3,
    #[replicated(as = Pose, name = "pose")]
    transform: physics::Transform,
    #[replicated(as = [f32; 3])]
    path: Vec<Option<physics::Vec3>>,
    #[replicated(as = [f32; 3])]
    marks: HashMap<u8, physics::Vec3>,
}

impl Player {
    fn on_position(&mut self, _old: &physics::Vec3) {}
}

#[derive(Replicated, Default)]
struct Marker<P: Default> {
    #[replicated(as = [f32; 3])]
    place: P,
}

#[derive(FastArrayItem, Clone, Default)]
struct Stop(#[replicated(as = [f32; 3])] physics::Vec3);

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn go(&mut self, #[replicated(as = [f32; 3])] target: physics::Vec3) {
        self.position = target;
    }
}

#[test]
fn these_forms_are_accepted() {
    let _ = (Marker::<physics::Vec3>::LAYOUT, Stop::LAYOUT, Player::LAYOUT.property("pose"));
    let mut server = Server::new(ServerConfig::default());
    let player = server.spawn(Player::default());
    server.edit(player).position([1.0, 2.0, 3.0].into());
}
