use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = OwnerOnly, starts_off)]
    value: u16,
}

fn main() {}
