use repl::{CallError, Client, ObjectRef};

mod ships {
    use repl::{Replicated, rpcs};

    #[derive(Replicated, Default)]
    pub struct Ship {
        #[replicated]
        speed: f32,
    }

    #[rpcs]
    impl Ship {
        #[rpc(server, reliable)]
        fn steer(&mut self, speed: f32) {
            self.speed = speed;
        }
    }
}

fn steer(client: &mut Client, ship: ObjectRef<ships::Ship>) -> Result<(), CallError> {
    client.call(ship).steer(2.0)
}

fn main() {}
