use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(skip, condition = OwnerOnly)]
    value: u16,
}

fn main() {}
