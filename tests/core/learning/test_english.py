"""English: what a message states about its writer, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from tests.tables import each
from turnleaf.core.languages.language import get_language
from turnleaf.core.learning.findings import find_sure_facts
from turnleaf.core.learning.recogniser import read_fact, read_message
from turnleaf.core.learning.reconciling import judge
from turnleaf.core.learning.slots import (
    USER,
    Bearer,
    Correction,
    Statement,
    Withdrawal,
    slots,
    write_fact,
)
from turnleaf.core.memories import Memory

if TYPE_CHECKING:
    from turnleaf.core.languages.language import Rule

SAID_ON = date(2026, 11, 17)

STATED = [
    ("My partner and I moved to Lisbon", [("home", "", "Lisbon")]),
    ("My dad is a retired plumber", [("occupation", "father", "a retired plumber")]),
    ("My name is Anna Berg", [("name", "", "Anna Berg")]),
    ("my name is tom", [("name", "", "tom")]),
    ("hi everyone, i'm Priya", [("name", "", "Priya")]),
    ("call me Al", [("nickname", "", "Al")]),
    ("you can call me Al", [("nickname", "", "Al")]),
    ("my nickname is Bear", [("nickname", "", "Bear")]),
    ("I go by Sasha", [("nickname", "", "Sasha")]),
    ("my birthday is March 3", [("birthday", "", "March 3")]),
    ("my wife's birthday is on the 12th of May", [("birthday", "wife", "12th of May")]),
    ("I was born on 3 April 1990", [("birthday", "", "3 April 1990")]),
    ("I was born in 1990", [("birth_year", "", "1990")]),
    ("my kids are 5 and 8", [("age", "children", "5 and 8")]),
    ("give me prices in euros from now on", [("manner", "", "give me prices in euros")]),
    ("I'm 41 years old", [("age", "", "41")]),
    ("im 29", [("age", "", "29")]),
    ("my son is 5", [("age", "son", "5")]),
    ("I turned 30 today", [("age", "", "30")]),
    ("I'm a woman", [("gender", "", "a woman")]),
    ("my pronouns are they/them", [("pronouns", "", "they/them")]),
    ("I'm married", [("marital", "", "married")]),
    ("my brother is divorced", [("marital", "brother", "divorced")]),
    ("I have two kids", [("child", "", "two kids")]),
    ("I'm a mother of three", [("personality", "", "a mother of three")]),
    ("I have two sisters", [("relative", "", "two sisters")]),
    ("i have an older brother", [("relative", "", "an older brother")]),
    ("I have a fiancée", [("partner", "", "fiancée")]),
    ("I went to the cinema with my husband", [("partner", "", "husband")]),
    ("I also have a parrot", [("pet", "", "a parrot")]),
    ("ive got two dogs", [("pet", "", "two dogs")]),
    ("I have a dog named Rex", [("pet", "", "a dog"), ("name", "dog", "Rex")]),
    ("my snake's called Pretzel", [("name", "snake", "Pretzel")]),
    ("My wife, Anna, is a nurse", [("name", "wife", "Anna"), ("work", "wife", "a nurse")]),
    ("my boss's name is Greta", [("name", "boss", "Greta")]),
    (
        "my coworker Priya is vegetarian",
        [("name", "colleague", "Priya"), ("diet", "colleague", "vegetarian")],
    ),
    ("mum's called Rosa", [("name", "mother", "Rosa")]),
    (
        "My daughter May is seven, severely allergic to peanuts",
        [
            ("name", "daughter", "May"),
            ("age", "daughter", "seven"),
            ("allergy", "daughter", "peanuts"),
        ],
    ),
    ("My son is five and allergic to milk", [("age", "son", "five"), ("allergy", "son", "milk")]),
    ("My dog is old, allergic to chicken", [("allergy", "dog", "chicken")]),
    ("I'm 30, allergic to peanuts", [("age", "", "30"), ("allergy", "", "peanuts")]),
    ("my address is 12 Baker Street, London", [("address", "", "12 Baker Street, London")]),
    ("I live at 4 Elm Road", [("address", "", "4 Elm Road")]),
    ("I live in Taipei", [("home", "", "Taipei")]),
    ("i live in portland", [("home", "", "portland")]),
    ("we just moved to Denver", [("home", "", "Denver")]),
    ("I've been living in Prague for six years", [("home", "", "Prague")]),
    ("I rent a studio in Queens", [("home", "", "Queens")]),
    ("my parents live in Leeds", [("home", "parents", "Leeds")]),
    (
        "My sister lives in Leeds. She's a nurse.",
        [("home", "sister", "Leeds"), ("work", "sister", "a nurse")],
    ),
    ("I live with my parents", [("household", "", "with my parents")]),
    ("I live alone", [("household", "", "alone")]),
    ("I'm from Brazil", [("origin", "", "Brazil")]),
    ("I grew up in a small town in Ohio", [("origin", "", "a small town in Ohio")]),
    ("My hometown is Bergen", [("origin", "", "Bergen")]),
    ("my girlfriend is from Chile", [("origin", "girlfriend", "Chile")]),
    ("I'm Italian", [("nationality", "", "Italian")]),
    ("my grandmother is Polish", [("nationality", "grandmother", "Polish")]),
    ("my time zone is CET", [("timezone", "", "CET")]),
    ("my office is in Vienna", [("workplace", "", "Vienna")]),
    ("I work at Acme Corp", [("employer", "", "Acme Corp")]),
    ("My cousin works at Siemens", [("employer", "cousin", "Siemens")]),
    ("I work as a dog groomer", [("work", "", "a dog groomer")]),
    (
        "I'm a nurse at Mercy Hospital",
        [("work", "", "a nurse"), ("employer", "", "Mercy Hospital")],
    ),
    ("By the way, I'm a carpenter", [("work", "", "a carpenter")]),
    ("i’m a paralegal btw", [("work", "", "a paralegal")]),
    ("my dad is a plumber", [("work", "father", "a plumber")]),
    ("my best friend is a pilot", [("work", "best_friend", "a pilot")]),
    ("I work in real estate", [("industry", "", "real estate")]),
    ("I work from home", [("workstyle", "", "from home")]),
    ("I'm retired", [("occupation", "", "retired")]),
    ("I'm a sophomore at Purdue", [("occupation", "", "a sophomore"), ("school", "", "Purdue")]),
    ("I run a small bakery", [("business", "", "a small bakery")]),
    ("I teach chemistry at a high school", [("teaching", "", "chemistry")]),
    ("I volunteer at the food bank", [("volunteering", "", "at the food bank")]),
    (
        "I study biology at Leeds University",
        [("studies", "", "biology"), ("school", "", "Leeds University")],
    ),
    ("I'm studying law", [("studies", "", "law")]),
    ("I'm learning Japanese", [("learning", "", "Japanese")]),
    ("I have a bachelor's degree", [("education", "", "a bachelor's degree")]),
    ("I hold a PhD in chemistry", [("education", "", "a PhD in chemistry")]),
    ("I'm writing a novel about bees", [("project", "", "a novel about bees")]),
    (
        "I'm severely allergic to peanuts, shellfish and eggs",
        [("allergy", "", "peanuts"), ("allergy", "", "shellfish"), ("allergy", "", "eggs")],
    ),
    ("im allergic to penicillin lol", [("allergy", "", "penicillin")]),
    ("allergic to latex, so no gloves please", [("allergy", "", "latex")]),
    ("I have a shellfish allergy", [("allergy", "", "shellfish")]),
    ("my kids are allergic to dust", [("allergy", "children", "dust")]),
    ("I'm vegetarian", [("diet", "", "vegetarian")]),
    ("dont forget that I am vegan", [("diet", "", "vegan")]),
    ("been vegan since 2015", [("diet", "", "vegan")]),
    ("my daughter is vegan", [("diet", "daughter", "vegan")]),
    ("I have asthma", [("health", "", "asthma")]),
    ("my mom has diabetes", [("health", "mother", "diabetes")]),
    ("I was diagnosed with ADHD", [("health", "", "ADHD")]),
    ("I'm lactose intolerant", [("condition", "", "lactose intolerant")]),
    ("I take metformin", [("medication", "", "metformin")]),
    ("I wear glasses", [("wears", "", "glasses")]),
    ("I'm terrified of spiders", [("fear", "", "spiders")]),
    ("I have a phobia of needles", [("fear", "", "needles")]),
    ("I stopped eating meat", [("avoids", "", "meat")]),
    ("I don't eat pork", [("avoids", "", "pork")]),
    ("I don't smoke", [("avoids", "", "smoking")]),
    ("I gave up smoking", [("quitting", "", "smoking")]),
    ("I tend to avoid dairy products", [("avoids", "", "dairy products")]),
    ("I can't do spicy food", [("avoids", "", "spicy food")]),
    ("I'm left-handed", [("handedness", "", "left-handed")]),
    ("I'm 180 cm tall", [("height", "", "180 cm")]),
    ("my shoe size is 42", [("measure", "", "42")]),
    ("my blood type is O negative", [("measure", "", "O negative")]),
    ("my phone number is 555-123-4567", [("phone", "", "555-123-4567")]),
    ("my email is anna@example.org", [("email", "", "anna@example.org")]),
    ("my github username is annab", [("account", "", "annab")]),
    ("I drive a red Toyota Corolla", [("vehicle", "", "a red Toyota Corolla")]),
    ("I have solar panels", [("possession", "", "solar panels")]),
    ("my laptop is a ThinkPad X1", [("device", "", "a ThinkPad X1")]),
    ("the living room lamp is called Ming", [("thing_name", "living room lamp", "Ming")]),
    ("We named our car Betsy", [("thing_name", "car", "Betsy")]),
    ("I keep the bedroom at 19 degrees", [("setting", "bedroom", "19 degrees")]),
    ("I speak Spanish and French", [("language", "", "Spanish"), ("language", "", "French")]),
    ("my roommate speaks Korean", [("language", "roommate", "Korean")]),
    ("my mother tongue is Dutch", [("mother_tongue", "", "Dutch")]),
    ("I use Neovim", [("tool", "", "Neovim")]),
    ("I switched to Firefox", [("tool", "", "Firefox")]),
    ("I'm a devout Catholic", [("belief", "", "Catholic")]),
    ("I'm strongly opposed to animal testing", [("opinion", "", "animal testing")]),
    ("I'm an introvert", [("personality", "", "an introvert")]),
    ("my favorite color is green", [("favourite", "", "green")]),
    ("sushi is my favorite food", [("favourite", "", "sushi")]),
    (
        "I love hiking, cycling and chess",
        [("like", "", "hiking"), ("like", "", "cycling"), ("like", "", "chess")],
    ),
    ("I hate it, but I love strong coffee", [("like", "", "strong coffee")]),
    ("I'm a big fan of jazz", [("like", "", "jazz")]),
    ("I'm a big Arsenal fan", [("like", "", "Arsenal")]),
    ("I hate cilantro", [("dislike", "", "cilantro")]),
    ("my husband hates mushrooms", [("dislike", "husband", "mushrooms")]),
    ("I don't like crowds", [("dislike", "", "crowds")]),
    ("I'm not a big fan of horror movies", [("dislike", "", "horror movies")]),
    ("I can't stand the smell of bleach", [("dislike", "", "the smell of bleach")]),
    (
        "I detest loud restaurants with flashing lights",
        [("dislike", "", "loud restaurants with flashing lights")],
    ),
    ("I have a deep aversion to phone calls", [("dislike", "", "phone calls")]),
    ("I prefer tea over coffee", [("preference", "", "tea over coffee")]),
    ("I have a strong preference for aisle seats", [("preference", "", "aisle seats")]),
    ("my hobbies are pottery and chess", [("hobby", "", "pottery"), ("hobby", "", "chess")]),
    ("I play the violin", [("skill", "", "violin")]),
    ("my niece plays the cello", [("skill", "niece", "cello")]),
    ("I do yoga every morning", [("practice", "", "yoga")]),
    ("I knit", [("craft", "", "knit")]),
    ("the bins go out on Tuesday", [("schedule", "bin", "Tuesday")]),
    ("I go swimming every Thursday", [("habit", "", "go swimming every Thursday")]),
    ("I refuse to fly with budget airlines", [("habit", "", "refuse to fly with budget airlines")]),
    ("I only drink decaf coffee", [("habit", "", "only drink decaf coffee")]),
    ("my goal is to run a marathon", [("goal", "", "run a marathon")]),
    ("I want to become a vet", [("goal", "", "become a vet")]),
    ("I have an interview on Monday", [("plan", "", "an interview on Monday")]),
    ("I'm moving to Berlin next month", [("intent", "", "moving to Berlin next month")]),
    ("I'm training for a triathlon", [("intent", "", "training for a triathlon")]),
    ("Please always answer in French", [("manner", "", "always answer in French")]),
    ("keep your answers short", [("manner", "", "keep answers short")]),
    ("I prefer brief replies from you", [("manner", "", "keep answers short")]),
    ("I want detailed answers from now on", [("manner", "", "give detailed answers")]),
    ("I don't want any emojis in your answers", [("manner", "", "don't use emojis")]),
    ("I moved to Linux", [("tool", "", "Linux")]),
    ("I joined a rowing club", [("member", "", "a rowing club")]),
    ("I've switched to peppermint tea", [("drinks", "", "peppermint tea")]),
    ("My wedding is on June 14", [("occasion", "wedding", "June 14")]),
    ("we moved the wedding to 3 October", [("occasion", "wedding", "3 October")]),
    ("New number: 555-201-8890", [("phone", "", "555-201-8890")]),
    ("you can text me at 555-201-8890", [("phone", "", "555-201-8890")]),
    ("my email has changed to kim@foo.example", [("email", "", "kim@foo.example")]),
    ("Dublin is where I'm based these days", [("home", "", "Dublin")]),
    ("As someone who lives in Perth, I know heat", [("home", "", "Perth")]),
    ("I moved in with my aunt in Bristol", [("home", "", "Bristol")]),
    ("my uncle lives on his own in a cottage in Kerry", [("home", "uncle", "Kerry")]),
    ("Kerry is where my uncle lives", [("home", "uncle", "Kerry")]),
    ("I got hired by Siemens", [("employer", "", "Siemens")]),
    ("I'm at Stripe now", [("employer", "", "Stripe")]),
    ("I work the till at a garden centre", [("employer", "", "a garden centre")]),
    (
        "I joined Siemens as a data engineer",
        [("employer", "", "Siemens"), ("work", "", "a data engineer")],
    ),
    ("By trade I'm a roofer", [("work", "", "a roofer")]),
    ("they made me team lead", [("work", "", "team lead")]),
    ("I'm head of logistics now", [("work", "", "head of logistics")]),
    ("my boss put me on the late shift", [("workstyle", "", "the late shift")]),
    ("I bank with Monzo", [("device", "", "Monzo")]),
    ("We switched our broadband to Zen", [("device", "", "Zen")]),
    ("I'm on a Pixel 9 now", [("device", "", "a Pixel 9")]),
    ("the screen of my Pixel 9 is cracked", [("device", "", "a Pixel 9")]),
    ("I've got a Canon EOS R6", [("possession", "", "a Canon EOS R6")]),
    ("my new dentist is Dr. Patel", [("name", "dentist", "Dr. Patel")]),
    ("Pickle is my hamster", [("name", "hamster", "Pickle")]),
    ("I rent a small house with Olek", [("name", "roommate", "Olek")]),
    ("I'm dating a guy called Tom", [("name", "partner", "Tom")]),
    ("it's a girl! We named her Ada", [("born", "", ""), ("name", "baby", "Ada")]),
    ("Nia and I tied the knot on Friday", [("married", "", "")]),
    ("I retired last month", [("retired", "", "")]),
    ("I take my tea with honey", [("habit", "", "take my tea with honey")]),
    ("I get up at 6", [("habit", "", "get up at 6")]),
    ("I row two evenings a week", [("habit", "", "row two evenings a week")]),
    ("I've taken up archery", [("hobby", "", "archery")]),
    ("my doctor put me on losartan", [("medication", "", "losartan")]),
    ("I cannot run because of my asthma", [("health", "", "asthma")]),
    ("I've been off the cigarettes since May", [("quitting", "", "smoking")]),
    ("my niece started third grade", [("occupation", "niece", "in third grade")]),
    ("don't use emojis", [("manner", "", "don't use emojis")]),
    ("from now on, reply in Spanish", [("manner", "", "reply in Spanish")]),
    ("I got laid off", [("lost_job", "", "")]),
    ("I lost my job", [("lost_job", "", "")]),
    ("I quit my job", [("left_job", "", "")]),
    ("I handed in my notice", [("left_job", "", "")]),
    ("we broke up", [("separated", "", "")]),
    ("my husband and I got divorced", [("separated", "", "")]),
    ("My girlfriend broke up with me", [("separated", "", "")]),
    ("I got engaged!", [("engaged", "", "")]),
    ("I just got married", [("married", "", "")]),
    ("we had a baby girl", [("born", "", "")]),
    ("I'm pregnant", [("pregnant", "", "")]),
    ("my wife is pregnant", [("pregnant", "wife", "")]),
    ("my grandma passed away this morning", [("died", "grandmother", "")]),
    ("my dad died when I was 12", [("deceased", "father", "")]),
    ("I moved into a new apartment", [("moved", "", "")]),
    ("I graduated from college", [("graduated", "", "")]),
    ("my dad retired", [("retired", "father", "")]),
    ("I sold my car", [("sold", "", "car")]),
    ("I recovered from leukemia", [("recovered", "", "leukemia")]),
    # What has changed.
    ("Just relocated to Utrecht for work", [("home", "", "Utrecht")]),
    ("in galway as of last month", [("home", "", "galway")]),
    ("We've left Boston for Omaha", [("home", "", "Omaha")]),
    ("finally settled in bristol", [("home", "", "bristol")]),
    ("as of Monday we're living in Ghent", [("home", "", "Ghent")]),
    ("my cousin has shifted to Perth", [("home", "cousin", "Perth")]),
    ("I'm in Lyon, working remotely for now", [("home", "", "Lyon")]),
    ("Lost my job", [("lost_job", "", "")]),
    ("they let me go this morning", [("lost_job", "", "")]),
    ("got the sack today", [("lost_job", "", "")]),
    ("my position was eliminated", [("lost_job", "", "")]),
    ("I switched careers", [("left_job", "", "")]),
    ("started at Siemens on Monday", [("employer", "", "Siemens")]),
    ("called it quits last week", [("separated", "", "")]),
    ("I'm single again", [("separated", "", "")]),
    ("Guess who got engaged!", [("engaged", "", "")]),
    ("sold the van", [("sold", "", "van")]),
    ("got rid of my scooter yesterday", [("sold", "", "scooter")]),
    ("got a Vespa", [("vehicle", "", "a Vespa")]),
    ("upgraded to a Pixel 9", [("device", "", "a Pixel 9")]),
    ("swapped my old phone for an iPhone 16", [("device", "", "an iPhone 16")]),
    ("my new laptop is a Framework 13", [("device", "", "a Framework 13")]),
    ("I eat fish now", [("eats", "", "fish")]),
    ("started eating meat again", [("eats", "", "meat")]),
    ("neither do i. started Dutch w my neighbour", [("learning", "", "Dutch")]),
    ("finally started Italian", [("learning", "", "Italian")]),
    ("Training for a triathlon", [("intent", "", "training for a triathlon")]),
    ("the marathon is over", [("finished", "", "marathon")]),
    ("I finished the bootcamp", [("finished", "", "bootcamp")]),
    ("my sister is due in May", [("pregnant", "sister", "")]),
    ("could you call me Ned from now on?", [("nickname", "", "Ned")]),
    ("I'm going by Ned these days", [("nickname", "", "Ned")]),
    ("I swim mon, wed and fri", [("habit", "", "swim mon, wed and fri")]),
    ("the fan in my office is called Breezy", [("thing_name", "office fan", "Breezy")]),
    ("renamed the kettle to Steamy", [("thing_name", "kettle", "Steamy")]),
    ("call the hall light Sparky from now on", [("thing_name", "hall light", "Sparky")]),
    ("14 March is my birthday", [("birthday", "", "14 March")]),
    ("native Polish speaker here", [("mother_tongue", "", "Polish")]),
    (
        "got a kitten!! her name is Miso",
        [("pet", "", "a kitten"), ("name", "cat", "Miso")],
    ),
    (
        "adopted two rabbits, Salt and Mr Pepper",
        [("pet", "", "two rabbits"), ("name", "rabbit", "Salt"), ("name", "rabbit", "Mr Pepper")],
    ),
    (
        "we have three kids, Ann, Bea and Carl",
        [
            ("child", "", "three kids"),
            ("name", "child", "Ann"),
            ("name", "child", "Bea"),
            ("name", "child", "Carl"),
        ],
    ),
    (
        "our baby arrived this morning! Her name is Ivy",
        [("born", "", ""), ("name", "baby", "Ivy")],
    ),
    ("my uncle is called Dennis, sorry, Desmond", [("name", "uncle", "Desmond")]),
    ("I live in Leeds... no wait, York", [("home", "", "York")]),
    ("got hitched last weekend", [("married", "", "")]),
    (
        "I have two hens: Dot and Peg",
        [("pet", "", "two hens"), ("name", "chicken", "Dot"), ("name", "chicken", "Peg")],
    ),
    (
        "our son was born on Tuesday, we named him Arlo",
        [("born", "", ""), ("name", "baby", "Arlo")],
    ),
    ("new boss is Steve", [("name", "boss", "Steve")]),
    ("new number is 555-765-4321", [("phone", "", "555-765-4321")]),
    ("back in Porto for good", [("home", "", "Porto")]),
    ("I like mushrooms now", [("like", "", "mushrooms")]),
    ("the fan on my desk is called Otto", [("thing_name", "desk fan", "Otto")]),
    ("my doctor says I have asthma", [("health", "", "asthma")]),
    ("my new place is in Hackney", [("home", "", "Hackney")]),
    ("I changed my email to ann@example.org", [("email", "", "ann@example.org")]),
    ("switched from Android to an iPhone 15", [("device", "", "an iPhone 15")]),
    ("bought a ThinkPad X1", [("device", "", "a ThinkPad X1")]),
    ("my favourite band is now Blur", [("favourite", "", "Blur")]),
    ("got promoted to lead developer", [("work", "", "lead developer")]),
    ("Kim and I got engaged", [("engaged", "", "")]),
    ("dropped out of uni", [("dropped_out", "", "")]),
    ("I changed my major to biology", [("studies", "", "biology")]),
    ("the bins now go out on Wednesdays", [("schedule", "bin", "Wednesdays")]),
    ("my new boss is Greta", [("name", "boss", "Greta")]),
    ("call me Jon, not Jonathan", [("nickname", "", "Jon")]),
]

KNOWN = {
    "june": Bearer("girlfriend", "girlfriend"),
    "bolt": Bearer("dog", "dog"),
    "ella": Bearer("daughter", "daughter"),
}

OF_SOMEBODY_KNOWN = [
    ("me and june split up", ("separated", "", "")),
    ("June and I broke up last night", ("separated", "", "")),
    ("June and I are done", ("separated", "", "")),
    ("broke up with June", ("separated", "", "")),
    ("June walked out on me", ("separated", "", "")),
    ("not with June anymore", ("separated", "", "")),
    ("Lost Bolt last night", ("died", "dog", "Bolt")),
    ("we had to put Bolt down", ("died", "dog", "Bolt")),
    ("we had to say goodbye to Bolt today", ("died", "dog", "Bolt")),
    ("Bolt passed away this morning", ("died", "dog", "Bolt")),
    ("Ella is allergic to eggs", ("allergy", "daughter", "eggs")),
    ("Ella's vegetarian", ("diet", "daughter", "vegetarian")),
    ("Ella's birthday is May 3", ("birthday", "daughter", "May 3")),
]

NOT_OF_ANYBODY_KNOWN = [
    "me and Kim split up",
    "June and I split the bill",
    "June left me a voicemail",
    "me and Ella split up",
    "Lost Bolt at the park",
    "lost Kim last night",
    "had to put Ella to sleep",
    "put Ella down for a nap",
    "Lost Ella yesterday in the mall",
    "Boltless is a word",
]

ENDED = [
    ("I don't live in Boston anymore", ("home", "", "Boston")),
    ("I no longer work at Acme", ("employer", "", "Acme")),
    ("I'm not a teacher anymore", ("work", "", "a teacher")),
    ("I'm not allergic to peanuts after all", ("allergy", "", "peanuts")),
    ("my son isn't allergic to eggs", ("allergy", "son", "eggs")),
    ("I'm not vegetarian anymore", ("diet", "", "vegetarian")),
    ("I don't use Windows", ("tool", "", "Windows")),
    ("I no longer like jazz", ("like", "", "jazz")),
    ("I no longer take metformin", ("medication", "", "metformin")),
    ("gave up on Korean", ("learning", "", "Korean")),
    ("quit piano", ("learning", "", "piano")),
    ("I'm not learning Dutch anymore", ("learning", "", "Dutch")),
    ("gave up being vegan", ("diet", "", "vegan")),
    ("no car anymore", ("vehicle", "", "car")),
    ("I'm no longer at Acme", ("employer", "", "Acme")),
    ("off metformin now", ("medication", "", "metformin")),
    ("stopped playing the guitar", ("skill", "", "guitar")),
    ("no longer vegan", ("diet", "", "vegan")),
    ("I don't run anymore", ("habit", "", "run")),
    ("started smoking again", ("quitting", "", "smoking")),
    ("I quit the bassoon", ("ended", "", "bassoon")),
    ("I offloaded my kayak yesterday", ("ended", "", "kayak")),
    ("rip the toaster oven", ("ended", "", "toaster oven")),
    ("my accordion phase is history", ("ended", "", "accordion")),
    ("we had to rehome the cat", ("given_away", "cat", "")),
    ("I outgrew my egg allergy", ("allergy", "", "egg")),
    ("my car got written off", ("vehicle", "", "car")),
    ("I'm not training for the marathon anymore", ("intent", "", "training for the marathon")),
]

SWITCHED = [
    ("dropped Spanish for Portuguese", ("learning", "Portuguese", "Spanish")),
    ("I moved from sertraline to bupropion", ("medication", "bupropion", "sertraline")),
    ("left Acme for Globex", ("employer", "Globex", "Acme")),
    ("switched from vim to zed", ("tool", "zed", "vim")),
    ("ditched Notion for Obsidian", ("tool", "Obsidian", "Notion")),
    ("traded in my Golf for a Tesla", ("vehicle", "a Tesla", "Golf")),
    ("switched from vegan to pescatarian", ("diet", "pescatarian", "vegan")),
]

NOT_STATED = [
    "wait, it's Friday",
    "No, it's fine",
    "Sorry, it's been a long day",
    "I'm blind to his faults",
    "I'm engaged in a debate",
    "I'm married to my job",
    "I'm an engineer at heart",
    "I live with my regrets",
    "I'm against the clock",
    "I'm from HR",
    "my sister passed",
    "just use Excel",
    "always use const in JavaScript",
    "I'm keen on meeting up",
    "my grandma passed her driving test",
    "I'm 100% sure",
    "I drive a hard bargain",
    "I love your idea",
    "I like the way this looks",
    "I love how quiet it is here",
    "I love it",
    "I like this one more than the other",
    "It felt like I got a second chance",
    "I'd like a coffee",
    "I would love to visit Japan",
    "I don't want to install another package",
    "I want to print this page",
    "If I lived in Rome I'd be happy",
    "Imagine I am a pirate named Bill",
    "You are a helpful doctor. I am a patient from Ohio.",
    "I want you to act as a travel guide. My name is Bob.",
    "Pretend I'm a nurse at Mercy Hospital",
    "Translate: I live in Paris and I work as a chef",
    "Please proofread this: My name is Carl and I am 30 years old",
    'She said "I\'m allergic to nuts"',
    "He told me that I am a bad driver",
    "Do I live in Boston?",
    "Am I allergic to penicillin?",
    "My name is what?",
    "Working as a lifeguard on campus gives you time to read",
    "I am passionate about making a calm and friendly room for people to rest in",
    "never used it tho",
    "oh sure, I get up at 4am every day",
    "I'm the CEO of Google 🙄",
    "I'm deaf in one ear",
    "I usually just watch",
    "I think I'm allergic to cats",
    "Maybe I'm a vegetarian",
    "I might move to Denver",
    "I used to live in Chicago",
    "I was a teacher",
    "I was 25 in 2010",
    "I'm tired",
    "I'm Sorry",
    "I'm Back",
    "I'm so happy for you",
    "I'm not sure",
    "I'm fine, thanks",
    "I'm a bit confused",
    "I'm a huge mess",
    "I'm a good cook",
    "I'm a terrible driver",
    "I'm the one who called",
    "I live in fear",
    "I live in the moment",
    "I live for this",
    "I work hard",
    "I work on it every day",
    "I'm working on the report",
    "I'm from the support team",
    "I have a question",
    "I have a meeting",
    "I have a headache",
    "I have a cold",
    "I have a hot dog",
    "I have a crush on my neighbour",
    "I have no idea",
    "I have two questions",
    "I got fired up about it",
    "I quit my job two years ago",
    "I sold my soul to the devil",
    "My computer died",
    "my phone died",
    "My battery died",
    "I'm dying of laughter",
    "I'm dead",
    "I broke up the meeting",
    "I lost my keys",
    "I lost my job in 2009",
    "The user says I live in Oslo",
    "> I live in Madrid",
    "`my name is Root`",
    "Alice: I live in Rome",
    "Bob: my dog is called Rex",
    "1. I am a nurse. 2. I am a doctor. Which is right?",
    "Write a story: I am a king and I live in France",
    "For example, I live in Berlin",
    "Let's say I have two kids",
    "yeah right, I love waiting in line",
    "oh great, another bug, I just LOVE Mondays",
    "I love you",
    "I hate this",
    "I hate it when that happens",
    "I can't stand it anymore",
    "I like to think so",
    "I'm into it",
    "I'm a fan of yours",
    "I'm interested in your opinion",
    "I prefer the second option",
    "I prefer this",
    "I need a new laptop",
    "I never said that",
    "I never knew",
    "I always forget",
    "I only have a minute",
    "I always use this",
    "I drive my sister crazy",
    "I speak for myself",
    "I use this for work",
    "I use it daily",
    "I'm using your template",
    "I play with fire",
    "I play it by ear",
    "I run into problems every day",
    "I see this error every day",
    "my name is on the list",
    "my name is not important",
    "my number is up",
    "call me later",
    "call me when you land",
    "call me crazy",
    "Call me maybe",
    "my birthday is coming up",
    "my favorite part is the ending",
    "my favorite is the one you sent",
    "my goal is to fix this",
    "My address is wrong",
    "Is it true that I'm left-handed?",
    "I refuse to believe it",
    "I hope you like sushi",
    "You live in London",
    "We met in Paris",
    "He lives in Leeds",
    "She is a nurse",
    "They have two dogs",
    "Dear Sir, I am a prince and I live in Lagos.",
    "I feel like I'm a ghost",
    "I wish I had a dog",
    "Suppose my name is Ann",
    "as a kid I lived in Rome",
    "I'm learning a lot",
    "I'm studying for my finals",
    "I'm studying hard",
    "I teach him a lesson",
    "I take the bus",
    "I take it back",
    "I wear black",
    "I'm in love",
    "I'm in a meeting",
    "I'm on the train",
    "I'm at Google",
    "I'm in Paris for the weekend",
    "I avoid it",
    "I don't like that idea",
    "I'm scared of what comes next",
    "I'm afraid of that",
    "I'm afraid not",
    "I'm afraid I can't help",
    "I'm against it",
    "I am Iron Man",
    "I am Groot lol",
    "I'm Team Edward",
    "my car is broken",
    "my phone is dead",
    "my laptop is slow",
    "the lamp is called a fixture",
    "my mom is here",
    "my sister is coming over",
    "my boss is a pain",
    "my friend is a fan of yours",
    "my brother thinks I'm lazy",
    "I'm expecting a package",
    "I'm expecting a call",
    "I graduated in 2005",
    "my password is hunter2",
    "work in some jokes about cats",
    "got it, thanks",
    "lost my keys again",
    "left the house at nine",
    "started the report",
    "moved the meeting to Friday",
    "dropped the glass",
    "started Monday",
    "my rent is due in May",
    "stopped by the shop",
    "turned off the lamp",
    "got a new idea",
    "Sorry, Anna is out today",
    "switched seats with a kid",
    "Left London for Paris on a day trip",
    "my car is Filthy",
    "could you use Python instead?",
    "in London as of tomorrow for a week",
    "started at Chapter 3",
    "quit Chrome and reopened it",
    "got a Golf club",
]

CORRECTED = [
    ("Actually it's Max, not Rex", "Max", "Rex"),
    ("no wait, Max", "Max", ""),
    ("sorry, I meant Thursday", "Thursday", ""),
    ("No, it's Max", "Max", ""),
    ("no wait, Thursday", "Thursday", ""),
    ("sorry, it's Max", "Max", ""),
    ("scratch that, Max", "Max", ""),
    ("sorry, Leon not Leo", "Leon", "Leo"),
    ("make that tues and thurs", "tues and thurs", ""),
    ("I renamed Dusty to Rusty", "Rusty", "Dusty"),
    ("renaming the vacuum from Dusty to Rusty", "Rusty", "Dusty"),
]

WITHDRAWN = ["just kidding", "scratch that", "lol jk", "Never mind."]

UNITS = [
    "a",
    "a ",
    "I ",
    "my ",
    "and ",
    ", a",
    "'s ",
    "not ",
    "1. ",
    "the A ",
    "A",
    "(",
    '"',
    "really ",
]


def _states(text: str) -> list[tuple[str, str, str]]:
    found = read_message(text)
    return [
        (one.slot, one.subject, one.value)
        for one in found
        if isinstance(one, Statement) and not one.is_over
    ]


@each("text, stated", STATED)
def test_a_message_states_a_slot_of_a_subject(
    text: str, stated: list[tuple[str, str, str]]
) -> None:
    assert _states(text) == stated


@each("text, ended", ENDED)
def test_a_message_says_that_something_no_longer_holds(
    text: str, ended: tuple[str, str, str]
) -> None:
    over = [one for one in read_message(text) if isinstance(one, Statement) and one.is_over]

    assert [(one.slot, one.subject, one.value) for one in over] == [ended]


@pytest.mark.parametrize(("text", "switched"), SWITCHED)
def test_a_message_says_what_something_is_instead_of(
    text: str, switched: tuple[str, str, str]
) -> None:
    [one] = read_message(text)

    assert isinstance(one, Statement)
    assert (one.slot, one.value, one.instead_of) == switched


@pytest.mark.parametrize(("text", "stated"), OF_SOMEBODY_KNOWN)
def test_a_name_that_is_known_is_a_subject(text: str, stated: tuple[str, str, str]) -> None:
    [one] = read_message(text, KNOWN)

    assert isinstance(one, Statement)
    assert (one.slot, one.subject, one.value) == stated


@pytest.mark.parametrize("text", NOT_OF_ANYBODY_KNOWN)
def test_a_name_that_nobody_knows_is_no_subject(text: str) -> None:
    assert read_message(text, KNOWN) == []


def test_what_another_did_is_not_said_of_the_user() -> None:
    assert _states("She has been busy. Got a puppy last week.") == []


@each("text", NOT_STATED)
def test_a_message_that_only_looks_like_a_statement_states_nothing(text: str) -> None:
    assert read_message(text) == []


@pytest.mark.parametrize(("text", "new", "old"), CORRECTED)
def test_a_correction_names_what_is_right(text: str, new: str, old: str) -> None:
    [correction] = read_message(text)

    assert isinstance(correction, Correction)
    assert (correction.new, correction.old) == (new, old)


@pytest.mark.parametrize("text", WITHDRAWN)
def test_what_was_not_meant_is_withdrawn(text: str) -> None:
    [withdrawal] = read_message(text)

    assert isinstance(withdrawal, Withdrawal)


def test_what_is_written_down_is_read_back_as_the_same() -> None:
    for one in (one for text, _ in STATED for one in read_message(text)):
        assert isinstance(one, Statement)
        written = write_fact(one, SAID_ON)
        read = [(back.slot, back.subject, back.value) for back in read_fact(written)]
        assert (one.slot, one.subject, one.value) in read, written


def test_every_slot_that_english_writes_is_read_back_from_some_wording() -> None:
    covered = {slot for _, stated in STATED for slot, _, _ in stated}

    written = {name for name, words in get_language("en").slots.items() if words.say}
    assert written == covered


def test_a_slot_of_others_is_written_and_read_for_them() -> None:
    stated = [one for text, _ in STATED for one in read_message(text)]
    for one in stated:
        assert isinstance(one, Statement)
        # A habit is a verb, and the verb of others has another form.
        if one.subject != USER or not slots()[one.slot].others or one.slot == "habit":
            continue
        theirs = replace(one, subject="sister", subject_text="sister")
        written = write_fact(theirs, SAID_ON)
        read = [(back.slot, back.subject) for back in read_fact(written)]
        assert (one.slot, "sister") in read, written


def test_many_repetitions_of_anything_are_read_to_their_end() -> None:
    for unit in UNITS:
        for frame in ("{}", "I live in {}", "I love {}", "my wife {}", "I am {}", "my {} is {}"):
            text = frame.replace("{}", unit * 20_000)
            read_message(text)
            read_fact(text)


def test_no_pattern_hangs_on_a_clause_of_repetitions() -> None:
    for rule in _rules():
        for unit in UNITS:
            for lead in ("\ue000 ", "\ue001", "\ue002", ""):
                rule.regex.match((lead + unit * 240)[:240])


def _rules() -> list[Rule]:
    english = get_language("en")
    of_slots = ((*one.rules, *one.supposed) for one in english.slots.values())
    return [*english.corrections, *english.changes, *(rule for one in of_slots for rule in one)]


@pytest.mark.parametrize(
    ("text", "slot", "subject", "value"),
    [
        ("I have a new number, it's 555-201-8890", "phone", "", "555-201-8890"),
        ("My sister has a new number. It's 555-201-8890.", "phone", "sister", "555-201-8890"),
        ("You wrote my name wrong. It's Siobhan.", "name", "", "Siobhan"),
        ("I got a new laptop, it's a Framework 13", "device", "", "a Framework 13"),
        (
            "I renamed the robot vacuum, it's called Fjord now",
            "thing_name",
            "robot vacuum",
            "Fjord",
        ),
        ("We're renaming the kitten. She's called Nutmeg now", "name", "cat", "Nutmeg"),
        ("I took my son to the zoo. He's 5.", "age", "son", "5"),
    ],
)
def test_it_and_he_mean_what_was_spoken_of(text: str, slot: str, subject: str, value: str) -> None:
    assert (slot, subject, value) in _states(text)


def test_what_goes_without_saying_is_read_in_a_question_too() -> None:
    assert _states("How do I get my dog Pickle to sleep?") == [("name", "dog", "Pickle")]
    assert _states("Can I eat grapefruit with my losartan?") == [("medication", "", "losartan")]
    assert _states("Should I have sold my Civic?") == []


@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ("I switched from pilates to reformer", "reformer", "pilates"),
        ("I swapped the gym for home workouts", "home workouts", "gym"),
        ("it's called Fjord now rather than Otter", "Fjord", "Otter"),
    ],
)
def test_a_change_names_what_was_and_what_is(text: str, new: str, old: str) -> None:
    [change] = read_message(text)

    assert isinstance(change, Correction)
    assert (change.new, change.old) == (new, old)


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("We got married in May 2011", "I got married (May 2011)"),
        ("I got divorced last year", "I separated from my partner (2025)"),
        ("Money has been tight since I lost my job", "I lost my job"),
        ("I got fired yesterday", "I lost my job (2026-11)"),
    ],
)
def test_an_event_has_the_time_that_was_said_or_none(text: str, fact: str) -> None:
    (stated,) = (one for one in read_message(text) if isinstance(one, Statement))
    written = write_fact(stated, SAID_ON)
    assert written == fact
    assert [one.slot for one in read_fact(written)] == [stated.slot]


@pytest.mark.parametrize(
    "text",
    [
        "My coach said: always answer in Latin",
        "The manual reads: from now on reply only in German.",
        "My landlord wrote: I am allergic to cats",
    ],
)
def test_what_somebody_else_said_after_a_colon_is_theirs(text: str) -> None:
    assert read_message(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("What is my wife's name?", "I have a wife"),
        ("I'd rather go with my boyfriend", "I have a boyfriend"),
        ("my dog is sick", "I have a dog"),
        ("my son is here today", "I have a son"),
        ("I never get to read with my kids around", "I have children"),
    ],
)
def test_whoever_is_mentioned_is_there(text: str, fact: str) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "here is my horse painting",
        "it is about our kids and their schools",
        "my dog died last week",
        "my ex-wife called",
        "my late husband built it",
        "if my wife were here",
        "I miss my boyfriend so much",
    ],
)
def test_nobody_is_supposed_who_is_not_there(text: str) -> None:
    facts = [one.content for one in find_sure_facts(text, NOW)]
    assert not any(fact.startswith("I have") for fact in facts)


def test_what_is_known_of_somebody_says_that_they_are_there() -> None:
    known = [
        Memory("1", "My dog is called Rex", NOW, NOW),
        Memory("2", "I have two cats", NOW, NOW),
    ]
    for text, fact in (("my dog is sick", "1"), ("my cat is asleep", "2")):
        (found,) = find_sure_facts(text, NOW)
        verdict = judge(found.statement, known)
        assert (verdict.effect, verdict.targets[0].id) == ("same", fact)


@pytest.mark.parametrize(
    "text",
    ["my grandpa died in the spring", "my grandpa died last summer", "my grandpa died in June"],
)
def test_an_event_gets_no_month_that_was_not_said(text: str) -> None:
    (fact,) = find_sure_facts(text, datetime(2026, 3, 2, tzinfo=UTC))
    assert "2026-03" not in fact.content


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I just started a new job as a barista", "I work as a barista"),
        ("I go by my middle name, Desmond", "Call me Desmond"),
        ("I'm 67 and only got a phone last year", "I was 67 in 2026"),
    ],
)
def test_a_common_wording_gives_its_fact(text: str, fact: str) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == [fact]


def test_an_event_of_last_week_may_be_of_last_month() -> None:
    early = datetime(2026, 3, 2, tzinfo=UTC)
    for text in ("my grandpa died last week", "Last week, my grandpa died"):
        assert [one.content for one in find_sure_facts(text, early)] == [
            "My grandfather died (2026-02)"
        ]


@pytest.mark.parametrize(
    "text",
    [
        "I'm living in Lisbon for the summer",
        "We're based in Nice this week",
        "I lived in Prague for two years",
        "I have a dog to walk on Fridays",
        "I have a girl in my class who sings",
        "we have a pool at the hotel",
        "I can't eat spicy food right now",
    ],
)
def test_what_is_so_for_a_while_is_not_learned(text: str) -> None:
    assert find_sure_facts(text, NOW) == []


@pytest.mark.parametrize(
    "text",
    [
        "I deal with angry customers every week",
        "I prepare reports every Friday",
        "I answer phones every day",
        "I run errands every Saturday",
    ],
)
def test_a_part_of_the_job_is_no_habit(text: str) -> None:
    assert find_sure_facts(text, NOW) == []


@pytest.mark.parametrize(
    "text",
    [
        "I hate Mondays",
        "I love Anna to bits",
        "I love helping others",
        "I like winning",
        "I prefer Tuesday for the meeting",
        "I don't drink enough water",
        "I don't eat out much",
        "I'm allergic to nonsense",
        "I'm terrified of tomorrow",
        "I use May as a deadline",
        "I'm Hufflepuff",
        "I quit. This puzzle is too hard.",
        "Today is one of my favorite days",
        "I've been running for an hour",
    ],
)
def test_what_anybody_could_say_is_not_learned(text: str) -> None:
    assert find_sure_facts(text, NOW) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm allergic to shellfish and carry an EpiPen", ["I am allergic to shellfish"]),
        ("I'm half Japanese", ["I am half Japanese"]),
        ("We moved to Leeds this summer", ["I live in Leeds"]),
        ("I like Thai food better", ["I like Thai food"]),
        ("My favorite place is the beach", ["My favourite place is the beach"]),
        ("I don't drink anymore", ["I avoid alcohol"]),
        ("we have a cabin in Maine", ["I have a cabin"]),
        (
            "I usually go jogging by the river in the mornings",
            ["I go jogging by the river in the mornings"],
        ),
    ],
)
def test_a_value_ends_where_the_sense_does(text: str, facts: list[str]) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == facts


@each(
    "text, fact",
    [
        ("I live just outside Manchester", "I live in the area around Manchester"),
        ("we live in the countryside", "I live in the countryside"),
        ("I came here from Peru five years ago", "I am from Peru"),
        ("we have twins", "I have twins"),
        ("I have a six-month-old baby", "I have a six-month-old baby"),
        ("I'm a mother of two girls", "I am a mother of two girls"),
        ("I'm in a long distance relationship", "I am in a long distance relationship"),
        ("I've been with my boyfriend for six years", "I have a boyfriend"),
        ("I work in a nursing home", "I work at a nursing home"),
        ("I have my own business", "I run my own business"),
        ("I've been out of work for months", "I am unemployed"),
        ("I'm training to be a pilot", "I am training to be a pilot"),
        ("I was diagnosed with ADHD last year", "I have ADHD"),
        ("I get carsick easily", "I have motion sickness"),
        ("I use a wheelchair", "I am in a wheelchair"),
        ("I'm on a keto diet", "I am keto"),
        ("I love to bake", "I like to bake"),
        ("in my spare time I like to sew", "I like to sew"),
        ("I like playing video games", "I like playing video games"),
        ("I have a sweet tooth", "I like sweets"),
        ("I've never liked olives", "I dislike olives"),
        ("I find golf really tedious", "I dislike golf"),
        ("I can't handle horror films", "I dislike horror films"),
        ("I'm uncomfortable around large dogs", "I dislike large dogs"),
        ("I don't wear makeup", "I avoid makeup"),
        ("I don't use social media", "I avoid social media"),
        ("I learn best by doing", "I prefer learning by doing"),
        ("I've been doing pilates for years", "I do pilates"),
        ("I spend most weekends fishing", "My hobby is fishing"),
        ("I play bass in a jazz band", "I belong to a jazz band"),
        ("Spanish is my second language", "I speak Spanish"),
        ("I'm an INFP", "I am an INFP"),
        ("I hope to become a pilot one day", "My goal is to become a pilot"),
        ("I've got a 10-year-old and a 7-year-old", "I have a 7-year-old"),
        ("I've worked in HR for 15 years", "I work in HR"),
        ("I've worked as a courier since 2019", "I work as a courier"),
        ("I work for myself", "I am self-employed"),
        ("I'm a stay at home dad", "I work as a stay at home dad"),
        ("Im in college", "I am in college"),
        ("I majored in history", "I have a degree in history"),
        ("im studying to be a nurse", "I am studying to be a nurse"),
        ("I have bad knees", "I have bad knees"),
        ("I have a peanut allergy", "I am allergic to peanuts"),
        ("I'm 5 foot 6", "I am 5 foot 6 tall"),
        ("I've been single for two years", "I am single"),
        ("I paint in my spare time", "I paint in my spare time"),
        ("I'm on the swim team", "I belong to the swim team"),
        ("I've been climbing since 2015", "My hobby is climbing"),
        ("My favorite city has to be Lisbon", "My favourite city is Lisbon"),
        ("I do enjoy sushi", "I like sushi"),
        ("Ramen is one of my favorites", "I like Ramen"),
        ("I've been part of the chess club for years", "I belong to the chess club"),
    ],
)
def test_an_everyday_wording_gives_its_fact(text: str, fact: str) -> None:
    assert fact in [one.content for one in find_sure_facts(text, NOW)]
    assert read_fact(fact)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("As an accountant, I don't see much sun in April.", ["I work as an accountant"]),
        ("As a vegan, I never know what to order on trains", ["I am vegan"]),
        ("As a mother of three, I am always tired", ["I am a mother of three"]),
        ("As a teacher, you know how kids are", []),
        ("As a kid, I had a train set", []),
    ],
)
def test_as_what_somebody_speaks_is_what_they_are(text: str, facts: list[str]) -> None:
    assert [one.content for one in find_sure_facts(text, NOW)] == facts


@pytest.mark.parametrize(
    "text",
    ["I lost my mother to cancer", "I lost my dad two years ago", "we lost our cat in a fire"],
)
def test_a_loss_without_a_date_gets_none(text: str) -> None:
    (found,) = find_sure_facts(text, NOW)
    assert found.content.endswith("has died")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My daughter's seven. Allergic to peanuts.", [("allergy", "daughter", "peanuts")]),
        ("My mother is 70. Vegetarian.", [("diet", "mother", "vegetarian")]),
        ("My mother is 70, vegetarian.", [("diet", "mother", "vegetarian")]),
        ("My son is three. Hates broccoli.", [("dislike", "son", "broccoli")]),
        ("My dad's a pilot. Birthday is July 4.", [("birthday", "father", "July 4")]),
        ("My brother's a nurse. Born on 3 May 1990.", [("birthday", "brother", "3 May 1990")]),
        ("My sister just moved. Works as a lawyer.", [("work", "sister", "a lawyer")]),
        (
            "My daughter started school. Seven years old, allergic to nuts.",
            [("age", "daughter", "seven"), ("allergy", "daughter", "nuts")],
        ),
        ("My dog Rex is old. Afraid of thunder. Likes cheese.", [("like", "dog", "cheese")]),
    ],
)
def test_a_sentence_without_a_subject_is_about_whom_the_last_one_was(
    text: str, facts: list[tuple[str, str, str]]
) -> None:
    found = _states(text)
    assert found[-len(facts) :] == facts
    assert not [one for one in found if one[0] == facts[0][0] and one[1] == USER]


@pytest.mark.parametrize(
    "text",
    [
        "My wife made satay. Allergic to peanuts, so I couldn't eat it.",
        "My son and my daughter are seven. Allergic to peanuts.",
        "She's seven. Allergic to peanuts.",
        "Jim came over. Allergic to cats.",
        "I took my daughter to the doctor. Allergic to peanuts.",
        "I have a daughter. Allergic to peanuts.",
        "My daughter and my son are here. What a day! Allergic to peanuts.",
        "My girlfriend and I moved in together. Allergic to cats.",
    ],
)
def test_nobody_gets_what_may_be_said_of_two(text: str) -> None:
    assert "allergy" not in {slot for slot, _, _ in _states(text)}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My daughter's seven. I'm a nurse. Allergic to peanuts.", ("allergy", USER, "peanuts")),
        ("What can I cook tonight? Allergic to peanuts.", ("allergy", USER, "peanuts")),
        ("I have a cat named Tom. Live in Ghent.", ("home", USER, "Ghent")),
        ("My daughter is seven. Call me Al.", ("nickname", USER, "Al")),
    ],
)
def test_a_sentence_without_a_subject_is_the_users_where_nobody_else_is_meant(
    text: str, fact: tuple[str, str, str]
) -> None:
    assert fact in _states(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My NAS is called Attic", "My NAS is called Attic"),
        ("Our printer is named Percy", "My printer is called Percy"),
        ("My wife's car is called Betty", "My wife's car is called Betty"),
        ("I named my robot vacuum Rosie", "My robot vacuum is called Rosie"),
        ("The living room lamp is called Ming", "The living room lamp is called Ming"),
        ("我的 NAS 叫 Attic", "我的NAS叫做Attic"),
        ("我家的掃地機器人叫小白", "我的掃地機器人叫做小白"),
        ("客廳的燈叫做小明", "客廳的燈叫做小明"),
    ],
)
def test_whose_a_thing_is_stays_with_its_name(text: str, fact: str) -> None:
    first, *_ = find_sure_facts(text, datetime(2026, 11, 17, tzinfo=UTC))
    assert first.content == fact
    (read,) = read_fact(fact)
    assert (read.slot, read.value) == ("thing_name", first.statement.value)
