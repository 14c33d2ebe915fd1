# SPDX-License-Identifier: Apache-2.0
# Loaded by a method of stacks.rb.
go($n)
