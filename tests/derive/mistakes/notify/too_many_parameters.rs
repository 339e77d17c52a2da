use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
}

impl Player {
    fn on_health(&mut self, _old: &u16, _new: &u16) {}
}

fn main() {}
