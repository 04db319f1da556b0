"""What PTX is: types, targets, instruction rows and the facts about them. Knows nothing of ptxgen."""

OWNER = "ptxgen"
