use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = module, atomic)]
    value: u16,
}

fn main() {}
