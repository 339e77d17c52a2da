mod not_a_path {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(crate = 7)]
    struct Player {
        #[replicated]
        health: u16,
    }
}

fn main() {}
