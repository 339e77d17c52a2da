use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u8,
    on_death: Option<Box<dyn Fn()>>,
}

fn main() {}
