mod holds_itself {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Folder {
        #[replicated]
        folders: Vec<Folder>,
    }
}

mod lifetime {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player<'a> {
        #[replicated]
        health: u16,
        name: &'a str,
    }
}

mod map_of_itself {
    use std::collections::BTreeMap;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Folder {
        #[replicated]
        folders: BTreeMap<String, Folder>,
    }
}

mod nothing_marked {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        health: u16,
        ammo: u16,
    }
}

mod packed {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[repr(C, packed(2))]
    struct Player {
        #[replicated]
        health: u32,
    }
}

mod s15_both_derives {
    use repl::{NetSerialize, Replicated};

    #[derive(Replicated, NetSerialize, Clone, Default)]
    struct Player {
        #[replicated]
        health: u16,
    }
}

mod skip_alone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        health: u16,
        #[replicated(skip)]
        cooldown: f32,
    }
}

mod union {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Copy)]
    union Either {
        int: u32,
        float: f32,
    }
}

fn main() {}
