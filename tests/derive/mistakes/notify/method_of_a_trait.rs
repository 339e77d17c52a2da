use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
}

trait Events {
    fn on_health(&mut self);
}

impl Events for Player {
    fn on_health(&mut self) {}
}

fn main() {}
