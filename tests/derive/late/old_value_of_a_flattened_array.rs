use repl::{Client, ClientConfig, FastArray, Replicated, Session};

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    items: FastArray<u32>,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_bags)]
    bags: [Bag; 2],
    #[replicated(notify = on_spare)]
    spare: Vec<Bag>,
}

impl Player {
    fn on_bags(&mut self, _old: &[Bag; 2]) {}

    fn on_spare(&mut self, _old: &Vec<Bag>) {}
}

fn main() {
    Client::new(ClientConfig::default(), Session::for_tests(1)).register::<Player>();
}
